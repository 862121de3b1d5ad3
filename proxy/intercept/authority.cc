// CertificateAuthority: the CA that signs for opened hosts.
#include "proxy/intercept/authority.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <new>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/system_error.h"
#include "base/unique_fd.h"

namespace stile::intercept {
namespace {

constexpr long leaf_life_s = 30 * 86'400;
constexpr long leaf_backdated_s = 86'400;  // for clients whose clock is slow

BioPtr memory_bio(std::string_view text) {
  return BioPtr{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const BioPtr bio{BIO_new(BIO_s_mem())};
  PEM_write_bio_X509(bio.get(), certificate);
  return text_of(bio.get());
}

std::string pem_of(EVP_PKEY* key) {
  const BioPtr bio{BIO_new(BIO_s_secmem())};
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(bio.get());
}

std::vector<CertPtr> certificates_in(std::string_view pem) {
  std::vector<CertPtr> found;
  const BioPtr bio = memory_bio(pem);
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    found.emplace_back(one);
  ERR_clear_error();  // the end of the text is an error to the reader
  return found;
}

bool add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  if (extension == nullptr) return false;
  const bool is_added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return is_added;
}

bool set_serial(X509* certificate) {
  BIGNUM* number = BN_new();
  const bool is_set = number != nullptr &&
                      BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                      BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return is_set;
}

bool set_name(X509_NAME* name, std::string_view text) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

KeyPtr make_key() { return KeyPtr{EVP_EC_gen("P-256")}; }

CertPtr make_root(EVP_PKEY* key, std::int64_t now_s) {
  CertPtr root{X509_new()};
  if (!root || X509_set_version(root.get(), X509_VERSION_3) != 1 || !set_serial(root.get())) {
    return nullptr;
  }
  X509_NAME* name = X509_get_subject_name(root.get());
  X509* const self = root.get();
  std::tm day{};
  const std::time_t begin = now_s;
  ::gmtime_r(&begin, &day);
  char text[64];
  std::snprintf(text, sizeof text, "Stile CA %04d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1,
                day.tm_mday);
  const bool is_made =
      set_name(name, text) && X509_set_issuer_name(self, name) == 1 &&
      ASN1_TIME_set(X509_getm_notBefore(self), now_s - CertificateAuthority::day_s) != nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(self), now_s + CertificateAuthority::life_s) != nullptr &&
      X509_set_pubkey(self, key) == 1 &&
      add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
      add_extension(self, self, NID_key_usage, "critical,keyCertSign,cRLSign") &&
      add_extension(self, self, NID_subject_key_identifier, "hash") &&
      X509_sign(self, key, EVP_sha256()) != 0;
  return is_made ? std::move(root) : nullptr;
}

std::int64_t end_of(X509* certificate) {
  std::tm time{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) != 1) return 0;
  return ::timegm(&time);
}

constexpr std::size_t most_file_bytes = 1 << 20;

// A directory of the CA. Keys are readable by the daemon's user alone.
class Folder {
 public:
  static Result<Folder> open(const std::string& path) {
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return system_error(path);
    Folder folder;
    folder.path_ = path;
    folder.fd_.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.fd_) return system_error(path);
    return folder;
  }
  [[nodiscard]] Result<std::optional<std::string>> read(const std::string& name) const {
    return read_file(fd_.get(), name, most_file_bytes);
  }
  [[nodiscard]] Result<void> write(const std::string& name, const std::string& text,
                                   mode_t mode) const {
    return replace_file(fd_.get(), name, text, mode);
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return ::faccessat(fd_.get(), name.c_str(), F_OK, 0) == 0;
  }
  [[nodiscard]] bool is_private(const std::string& name) const {
    struct stat status {};
    return ::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           (status.st_mode & 0077) == 0 && (status.st_uid == ::geteuid() || status.st_uid == 0);
  }
  void remove(const std::string& name) const { static_cast<void>(remove_file(fd_.get(), name)); }
  [[nodiscard]] std::string place(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
  UniqueFd fd_;
};

struct Pair {
  CertPtr certificate;
  KeyPtr key;
  std::vector<CertPtr> chain;
};

Result<Pair> make_pair(std::int64_t now_s) {
  Pair pair;
  pair.key = make_key();
  if (pair.key) pair.certificate = make_root(pair.key.get(), now_s);
  if (!pair.certificate) return Error{"the CA could not be made: " + openssl_error()};
  return pair;
}

Result<void> write_pair(const Folder& folder, const std::string& base, const Pair& pair) {
  // The key first: a certificate without its key is an error, a key without one is replaced.
  auto done = folder.write(base + ".key", pem_of(pair.key.get()), 0600);
  if (done) done = folder.write(base + ".pem", pem_of(pair.certificate.get()), 0644);
  return done;
}

Result<Pair> make_files(const Folder& folder, const std::string& base, std::int64_t now_s) {
  auto pair = make_pair(now_s);
  if (!pair) return pair;
  const auto done = write_pair(folder, base, *pair);
  if (!done) return done.error();
  return pair;
}

Result<Pair> read_pair(const Folder& folder, const std::string& base) {
  const std::string key_name = base + ".key", name = base + ".pem";
  if (!folder.is_private(key_name)) {
    return Error{folder.place(key_name) +
                 ": must be a file that only the daemon's user can read; chmod 600 it"};
  }
  const auto key_text = folder.read(key_name);
  if (!key_text) return key_text.error();
  const auto text = folder.read(name);
  if (!text) return text.error();
  Pair pair;
  const std::string key_pem = key_text->value_or("");  // outlives the BIO, which points into it
  const BioPtr bio = memory_bio(key_pem);
  pair.key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (!pair.key) return Error{folder.place(key_name) + ": not a private key: " + openssl_error()};
  auto all = certificates_in(text->value_or(""));
  if (all.empty()) return Error{folder.place(name) + ": no certificate in it"};
  pair.certificate = std::move(all.front());
  pair.chain.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
  if (X509_check_private_key(pair.certificate.get(), pair.key.get()) != 1) {
    return Error{folder.place(name) + " and its key do not belong together"};
  }
  if (X509_check_ca(pair.certificate.get()) != 1) {
    return Error{folder.place(name) + ": this certificate may not sign others"};
  }
  return pair;
}

Result<Pair> read_or_make(const Folder& folder, const std::string& base, std::int64_t now_s) {
  return folder.has(base + ".pem") ? read_pair(folder, base) : make_files(folder, base, now_s);
}

KeyPtr make_leaf_key() {
  KeyPtr key = make_key();
  if (!key) throw std::bad_alloc{};
  return key;
}

}  // namespace

Result<CertificateAuthority> CertificateAuthority::in_memory(std::int64_t now_s) {
  auto pair = make_pair(now_s);
  if (!pair) return pair.error();
  CertificateAuthority made;
  made.trusted_ = pem_of(pair->certificate.get());
  made.certificate_ = std::move(pair->certificate);
  made.key_ = std::move(pair->key);
  made.leaf_key_ = make_leaf_key();
  return made;
}

Result<CertificateAuthority> CertificateAuthority::open(const std::string& directory,
                                                        std::int64_t now_s) {
  const auto folder = Folder::open(directory);
  if (!folder) return folder.error();
  auto pair = read_or_make(*folder, "ca", now_s);
  if (!pair) return pair.error();
  // The operator renews an intermediate of their own.
  const bool is_own = pair->chain.empty() && X509_self_signed(pair->certificate.get(), 1) == 1;
  const std::int64_t left_s = end_of(pair->certificate.get()) - now_s;
  CertificateAuthority made;
  std::string other;  // the successor or the predecessor
  if (is_own && left_s < next_is_made_s) {
    auto next = read_or_make(*folder, "next", now_s);
    if (!next) return next.error();
    if (left_s < next_signs_s) {
      auto done = folder->write("old.pem", pem_of(pair->certificate.get()), 0644);
      if (done) done = write_pair(*folder, "ca", *next);
      if (!done) return done.error();
      folder->remove("next.pem");
      folder->remove("next.key");
      pair = std::move(next);
    } else {
      other = pem_of(next->certificate.get());
    }
  }
  if (const auto before = folder->read("old.pem"); other.empty() && before) {
    for (const auto& one : certificates_in(before->value_or(""))) {
      if (end_of(one.get()) > now_s) other += pem_of(one.get());
    }
  }
  X509* root = pair->chain.empty() ? pair->certificate.get() : pair->chain.back().get();
  made.trusted_ = pem_of(root) + other;
  made.certificate_ = std::move(pair->certificate);
  made.key_ = std::move(pair->key);
  made.chain_ = std::move(pair->chain);
  made.leaf_key_ = make_leaf_key();
  return made;
}

std::int64_t CertificateAuthority::expires_s() const { return end_of(certificate_.get()); }

std::vector<X509*> CertificateAuthority::sent_chain() const {
  std::vector<X509*> sent;
  if (chain_.empty()) return sent;
  sent.push_back(certificate_.get());
  for (std::size_t i = 0; i + 1 < chain_.size(); ++i) sent.push_back(chain_[i].get());
  return sent;
}

CertPtr CertificateAuthority::sign(std::string_view host) const {
  CertPtr leaf{X509_new()};
  if (!leaf || X509_set_version(leaf.get(), X509_VERSION_3) != 1 || !set_serial(leaf.get())) {
    return nullptr;
  }
  X509* const self = leaf.get();
  X509* const issuer = certificate_.get();
  // A CN has at most 64 bytes; clients read the alternative name only.
  const std::string_view common = host.size() <= 64 ? host : "stile";
  const bool has_key_id = X509_get0_subject_key_id(issuer) != nullptr;  // a CA may lack one
  const bool is_made =
      set_name(X509_get_subject_name(self), common) &&
      X509_set_issuer_name(self, X509_get_subject_name(issuer)) == 1 &&
      X509_gmtime_adj(X509_getm_notBefore(self), -leaf_backdated_s) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(self), leaf_life_s) != nullptr &&
      X509_set_pubkey(self, leaf_key_.get()) == 1 &&
      add_extension(self, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
      add_extension(self, issuer, NID_key_usage, "critical,digitalSignature") &&
      add_extension(self, issuer, NID_ext_key_usage, "serverAuth") &&
      add_extension(self, issuer, NID_subject_alt_name, "DNS:" + std::string{host}) &&
      (!has_key_id || add_extension(self, issuer, NID_authority_key_identifier, "keyid")) &&
      X509_sign(self, key_.get(), EVP_sha256()) != 0;
  if (!is_made) ERR_clear_error();
  return is_made ? std::move(leaf) : nullptr;
}

}  // namespace stile::intercept
