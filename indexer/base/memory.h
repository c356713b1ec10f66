// Keeps what a program has resident close to what it uses.
#pragma once

namespace soci {

// Gives memory that was freed back to the system, from the middle of the heap too. Worth its cost after some MiB. Does
// nothing where the C library cannot. Any thread.
void ReturnFreedMemory();

}  // namespace soci
