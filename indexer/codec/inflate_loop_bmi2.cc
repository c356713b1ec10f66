// Compiled with -mbmi2: called only where the machine has it.
#include "indexer/codec/inflate_loop.h"

#if defined(__x86_64__)
#include "indexer/codec/inflate_loop_body.h"

namespace soci::deflate {

LoopEnd DecodeSymbolsWithBmi2(LoopState& state) { return RunLoop(state); }

}  // namespace soci::deflate
#endif
