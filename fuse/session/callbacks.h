// The filesystem calls that the kernel makes of a session: decode, ask the layer, reply.
#pragma once

struct fuse_lowlevel_ops;

namespace soci {

// Their user data is a Session. Any thread.
const fuse_lowlevel_ops& Callbacks();

}  // namespace soci
