// soci-test-guardian ROOT [NAME]: waits until its standard input ends, which is when the test program does, however it
// does, and clears away ROOT then: a temporary directory, or with NAME a whole sandbox. So a test that is killed or
// interrupted leaves nothing behind either.
#include <unistd.h>

#include <filesystem>

#include "tests/support/sweep.h"
#include "tests/support/temporary_directory.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return 2;
  ::setsid();  // Ctrl-C is for the test program
  char ignored;
  while (::read(0, &ignored, 1) > 0) {
  }
  if (argc == 3) {
    soci::test::Sweep(argv[1], argv[2]);
  } else {
    soci::test::RemoveDirectory(argv[1]);
  }
  return 0;
}
