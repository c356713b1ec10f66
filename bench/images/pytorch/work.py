"""The work of the PyTorch image: `import torch`, then (with --train) torchvision, transformers and 20 training steps on the
processor. Each line says what is done, so that a stopwatch outside can read it."""

print("hello", flush=True)

import sys

import torch

print("imported torch", torch.__version__, flush=True)

if "--train" in sys.argv:
    import torchvision
    import transformers

    print("imported torchvision", torchvision.__version__, "transformers", transformers.__version__, flush=True)
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data, target = torch.randn(64, 256), torch.randint(0, 10, (64,))
    for _ in range(20):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
    print(f"trained to a loss of {loss.item():.3f}", flush=True)

print("done", flush=True)
