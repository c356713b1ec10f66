// A registry, its token server and its storage on loopback, with every bad habit of real ones as a switch.
//
// Three scripted servers: the registry, the storage it may redirect blobs to, and the registry's /token. A test fills
// it, turns switches in `Change`, adds `Trouble` to single requests, and reads the logs. Everything is decided by
// counting, nothing by time or chance. All secrets it hands out hold the word "secret". Any thread.
#pragma once

#include <chrono>
#include <climits>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/oci/descriptor.h"
#include "indexer/oci/reference.h"
#include "tests/fakes/scripted_server.h"

namespace soci::test {

// What happens to some of the requests: those whose method and target match, from the `from`-th on, every `every`-th of
// them, `times` times.
struct Trouble {
  std::string method = {};  // empty: any
  std::string part = {};    // of the target
  int from = 1;
  int every = 1;
  int times = INT_MAX;
  std::function<void(Answer&)> effect;

  int seen = 0;  // counted by the registry
  int done = 0;
};

struct RegistryScript {
  enum class Referrers {
    kApi,          // filtered, and says so
    kMissing,      // 404
    kNotAllowed,   // 405
    kLoginPage,    // 302 to a page of HTML with status 200
    kAlwaysEmpty,  // 200 with an empty list
    kUnfiltered,   // all artifact types, no filter header
    kPaged,        // one descriptor a page
    kWrongType,    // 200, JSON of something else
  };
  enum class Ranges {
    kHonoured,
    kIgnored,             // 200 with everything
    kHonouredOnce,        // a 206, from then on as kIgnored
    kWithoutContentType,  // a good 206 but for that
    kWithoutContentRange,
    kShifted,  // one byte further than asked, and says so
    kShort,    // at most 1000 bytes at a time, and says so
    kMultipart,
  };
  enum class Auth { kNone, kBasic, kBearer };
  enum class Signature {
    kAge,      // X-Amz-Expires alone
    kAmz,      // X-Amz-Date and X-Amz-Expires
    kExpires,  // Expires, a moment
  };

  Referrers referrers = Referrers::kApi;
  Ranges ranges = Ranges::kHonoured;

  Auth auth = Auth::kNone;
  std::map<std::string, std::string> users = {};  // name -> password
  std::set<std::string> identity_tokens = {};
  bool anonymous_tokens = false;
  bool several_scopes = true;  // a token is good for all scopes that were asked for, else for the first
  int token_lifetime_s = 300;  // as told to the client
  int token_uses = 0;          // requests a token is good for; 0: any number
  int unauthorized_status = 401;
  int expired_status = 401;

  bool redirect_blobs = false;
  int url_uses = 0;          // requests a storage URL is good for; 0: any number
  int url_lifetime_s = 900;  // as written in the URL; counts only for the client
  Signature signs_with = Signature::kAge;
  // The registry's and the storage's clock: signs URLs, and is told in Date. None: no Date.
  std::function<std::chrono::system_clock::time_point()> wall_clock = {};
  int storage_refusal = 403;
  bool storage_wants_referer = false;
  bool several_ranges_refused = true;  // 400 to more than one range in a request

  bool takes_subject = true;       // answers with OCI-Subject
  bool refuses_subject = false;    // 400 to a manifest with subject
  bool refuses_artifacts = false;  // 405 to a manifest with artifactType or subject
  bool compares_etags = false;     // If-Match and If-None-Match on manifests
  bool refuses_pieces = false;     // 405 to PATCH

  std::vector<Trouble> troubles = {};          // at the registry
  std::vector<Trouble> storage_troubles = {};  // at the storage
};

class ScriptedRegistry {
 public:
  explicit ScriptedRegistry(RegistryScript script = {}, const TlsIdentity& identity = {});

  oci::Descriptor AddBlob(const std::string& repository, const std::string& bytes);
  // Returns its descriptor; `name`: a tag, or empty for its digest only.
  oci::Descriptor AddManifest(const std::string& repository, const std::string& name, std::string_view media_type,
                              const std::string& body);
  // Listed by the API.
  void AddReferrer(const std::string& repository, const oci::Digest& subject, oci::Descriptor referrer);

  void Change(const std::function<void(RegistryScript&)>& change);
  // What clean-up rules do: every manifest without a tag goes, and is no referrer any more.
  void DeleteUntagged(const std::string& repository);
  // Every token handed out so far is refused from now on.
  void ExpireTokens();
  // Every storage URL handed out so far is refused from now on.
  void ExpireUrls();

  oci::Reference Reference(const std::string& repository) const;
  std::string host() const { return registry_.host(); }
  ScriptedServer& registry() { return registry_; }
  ScriptedServer& storage() { return storage_; }
  // Requests at the registry (probes of /v2/ and tokens included) and at the storage that match.
  std::vector<SeenRequest> Requests(std::string_view method, std::string_view part) const;
  size_t Count(std::string_view method, std::string_view part) const { return Requests(method, part).size(); }
  // Body bytes sent for GETs of blobs.
  uint64_t BlobBytes() const;
  // The body of a manifest under this name; "" if there is none.
  std::string Manifest(const std::string& repository, const std::string& name) const;
  std::string Blob(const oci::Digest& digest) const;

 private:
  struct Repository {
    std::map<std::string, std::string> manifests;  // by digest
    std::map<std::string, std::string> media_types;
    std::map<std::string, std::string> tags;
    std::map<std::string, std::vector<oci::Descriptor>> referrers;  // by subject
    std::set<std::string> blobs;
  };
  struct Token {
    std::set<std::string> repositories;
    int uses_left = INT_MAX;
  };

  Answer AnswerRegistry(const SeenRequest& request);
  Answer AnswerStorage(const SeenRequest& request);
  std::string SignedPath(const std::string& digest);
  void AddDate(Answer& answer) const;
  void MakeTrouble(std::vector<Trouble>& troubles, const SeenRequest& request, Answer& answer);
  Answer Route(const SeenRequest& request);
  Answer Authorize(const SeenRequest& request, const std::string& repository, bool& allowed);
  Answer GiveToken(const SeenRequest& request);
  Answer GetBlob(const SeenRequest& request, const std::string& repository, const std::string& digest);
  Answer BlobBytes(const SeenRequest& request, const std::string& bytes);
  Answer GetManifest(const SeenRequest& request, Repository& repository, const std::string& name);
  Answer PutManifest(const SeenRequest& request, Repository& repository, const std::string& name);
  Answer GetReferrers(const SeenRequest& request, Repository& repository, const std::string& subject);
  Answer Upload(const SeenRequest& request, const std::string& name, const std::string& upload);
  bool KnowsUser(const std::string& basic, std::string* user) const;

  mutable std::mutex mutex_;
  RegistryScript script_;
  std::map<std::string, std::string> blobs_;  // by digest
  std::map<std::string, Repository> repositories_;
  std::map<std::string, std::string> uploads_;
  std::map<std::string, Token> tokens_;
  std::map<std::string, int> url_uses_left_;
  int next_id_ = 0;
  int partial_answers_ = 0;

  ScriptedServer storage_;  // last: their threads end first
  ScriptedServer registry_;
};

}  // namespace soci::test
