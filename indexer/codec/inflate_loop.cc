#include "indexer/codec/inflate_loop.h"

#include "indexer/codec/inflate_loop_body.h"

namespace soci::deflate {

LoopEnd DecodeSymbols(LoopState& state) { return RunLoop(state); }

}  // namespace soci::deflate
