// soci-test-guardian ROOT NAME: waits until its standard input ends, which is when the test program does, however it
// does, and sweeps the sandbox then. So a test that is killed or interrupted leaves nothing behind either.
#include <unistd.h>

#include "tests/support/sweep.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ::setsid();  // Ctrl-C is for the test program
  char ignored;
  while (::read(0, &ignored, 1) > 0) {
  }
  soci::test::Sweep(argv[1], argv[2]);
  return 0;
}
