#include "base/hash.h"
#include "model/codec_fields.h"

namespace amdahl::model {

template Json encode(const Receipt&);
template Result<Receipt> decode(const Json&);
template Result<Receipt> decode_text(std::string_view);
template Json encode(const PairFact&);
template Result<PairFact> decode(const Json&);
template Result<PairFact> decode_text(std::string_view);
template Json encode(const Usage&);
template Result<Usage> decode(const Json&);
template Result<Usage> decode_text(std::string_view);

namespace {

std::string digest_of(const Receipt& receipt) {
  Json json = encode(receipt);
  json.erase("digest");
  return sha256_hex(dump_json(json));
}

}  // namespace

void seal(Receipt& receipt) { receipt.digest = digest_of(receipt); }

bool check_seal(const Receipt& receipt) { return receipt.digest == digest_of(receipt); }

}  // namespace amdahl::model
