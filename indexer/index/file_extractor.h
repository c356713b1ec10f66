// Reads one file of a layer by its zTOC, fetching only the spans it lies in; each is verified.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "indexer/base/byte_source.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

// The regular file that stands at `path` once the layer is unpacked: the last entry of that cleaned name, through hard
// links within the layer. kNotFound if there is none, kFailedPrecondition if it is something else.
Result<tar::Entry> FindFile(const ZtocView& ztoc, std::string_view path);

// Delivers the file's content in order. kDataLoss if a span does not match its digest, or if the file's tar header is
// not what the table says. Memory: one span.
Status ExtractFile(const ByteSource& layer, const ZtocView& ztoc, const tar::Entry& file,
                   const std::function<Status(ByteSpan)>& sink, const FetchContext& context);

}  // namespace soci
