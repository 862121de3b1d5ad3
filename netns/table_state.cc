// table_state: reads our table from the kernel.
#include "netns/table_state.h"

#include <arpa/inet.h>
#include <endian.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "netns/ruleset.h"

namespace stile::netns {
namespace {

constexpr int most_attempts = 100;
constexpr std::size_t name_bytes = IFNAMSIZ;
constexpr std::size_t pair_bytes = name_bytes + sizeof(std::uint32_t);

std::uint16_t nft_type(int message) {
  return static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8U) | message);
}

void start(NetlinkMessage& message) {
  auto& header = message.extra<nfgenmsg>();
  header.nfgen_family = NFPROTO_INET;
  header.version = NFNETLINK_V0;
}

// A device and, for the set of agents, its address, in the kernel's format.
std::string key_of(const Agent& agent, bool with_address) {
  auto key = device_name(agent.id);
  key.resize(name_bytes, '\0');
  if (with_address) {
    const auto address = htonl(agent.address.v4_value());
    key.append(reinterpret_cast<const char*>(&address), sizeof address);
  }
  return key;
}

std::string_view bytes_of(const nlattr& attribute) {
  return {static_cast<const char*>(mnl_attr_get_payload(&attribute)),
          mnl_attr_get_payload_len(&attribute)};
}

std::uint64_t number_of(const nlattr& attribute) {
  return mnl_attr_get_payload_len(&attribute) == sizeof(std::uint64_t)
             ? be64toh(mnl_attr_get_u64(&attribute))
             : 0;
}

struct Element {
  std::string key;
  PacketCount count;
};

// { KEY { VALUE }, EXPR { NAME "counter", DATA { BYTES, PACKETS } } }
Element element_of(const nlattr& nest) {
  Element element;
  for_nested(nest, [&](std::uint16_t type, const nlattr& part) {
    if (type == NFTA_SET_ELEM_KEY) {
      for_nested(part, [&](std::uint16_t inner, const nlattr& value) {
        if (inner == NFTA_DATA_VALUE) element.key = bytes_of(value);
      });
    }
    if (type != NFTA_SET_ELEM_EXPR) return;
    for_nested(part, [&](std::uint16_t inner, const nlattr& data) {
      if (inner != NFTA_EXPR_DATA) return;
      for_nested(data, [&](std::uint16_t counter, const nlattr& value) {
        if (counter == NFTA_COUNTER_PACKETS) element.count.packets = number_of(value);
        if (counter == NFTA_COUNTER_BYTES) element.count.bytes = number_of(value);
      });
    });
  });
  return element;
}

using EachElement = std::function<void(const Element&)>;

KernelAnswer ask_elements(Netlink& netfilter, const char* set, const std::string* key,
                          const EachElement& each) {
  const std::uint16_t dump = NLM_F_DUMP;
  NetlinkMessage message{nft_type(NFT_MSG_GETSETELEM), key == nullptr ? dump : std::uint16_t{0}};
  start(message);
  message.put(NFTA_SET_ELEM_LIST_TABLE, table_name);
  message.put(NFTA_SET_ELEM_LIST_SET, set);
  if (key != nullptr) {
    auto* list = message.begin(NFTA_SET_ELEM_LIST_ELEMENTS);
    auto* element = message.begin(NFTA_LIST_ELEM);
    auto* data = message.begin(NFTA_SET_ELEM_KEY);
    message.put(NFTA_DATA_VALUE, key->data(), key->size());
    message.end(data);
    message.end(element);
    message.end(list);
  }
  return netfilter.ask(message, [&](const nlmsghdr& part) {
    for_attributes(part, sizeof(nfgenmsg), [&](std::uint16_t type, const nlattr& list) {
      if (type != NFTA_SET_ELEM_LIST_ELEMENTS) return;
      for_nested(list, [&](std::uint16_t, const nlattr& nest) { each(element_of(nest)); });
    });
  });
}

Result<std::optional<PacketCount>> read_element(Netlink& netfilter, const char* set,
                                                const std::string& key) {
  std::optional<PacketCount> found;
  const auto answer =
      ask_elements(netfilter, set, &key, [&](const Element& element) { found = element.count; });
  if (!answer.is_ok() && answer.code != ENOENT) return answer.error("cannot read the table");
  return found;
}

Result<void> read_set(Netlink& netfilter, const char* set, const EachElement& each) {
  // Duplicate elements from a repeated dump have the same key.
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const auto answer = ask_elements(netfilter, set, nullptr, each);
    if (answer.is_ok() || answer.code == ENOENT) return {};
    if (answer.code != EINTR) return answer.error("cannot read the table");
  }
  return Error{"the table changes faster than it can be read"};
}

// The attributes that define a table, by message type: they are equal whenever the same text was
// loaded. Handles, use counts and values of counters are left out.
struct Kind {
  int message;
  std::uint16_t table_attribute;
  std::set<std::uint16_t> attributes;
};

const std::array<Kind, 5>& kinds() {
  static const std::array<Kind, 5> all{{
      {NFT_MSG_GETTABLE, NFTA_TABLE_NAME, {NFTA_TABLE_NAME, NFTA_TABLE_FLAGS}},
      {NFT_MSG_GETCHAIN,
       NFTA_CHAIN_TABLE,
       {NFTA_CHAIN_NAME, NFTA_CHAIN_HOOK, NFTA_CHAIN_POLICY, NFTA_CHAIN_TYPE, NFTA_CHAIN_FLAGS}},
      {NFT_MSG_GETSET,
       NFTA_SET_TABLE,
       {NFTA_SET_NAME, NFTA_SET_FLAGS, NFTA_SET_KEY_TYPE, NFTA_SET_KEY_LEN, NFTA_SET_EXPR}},
      {NFT_MSG_GETOBJ, NFTA_OBJ_TABLE, {NFTA_OBJ_NAME, NFTA_OBJ_TYPE}},
      {NFT_MSG_GETRULE, NFTA_RULE_TABLE, {NFTA_RULE_CHAIN, NFTA_RULE_EXPRESSIONS}},
  }};
  return all;
}

KernelAnswer append_kind(Netlink& netfilter, const Kind& kind, std::string& shape) {
  NetlinkMessage message{nft_type(kind.message), NLM_F_DUMP};
  start(message);
  // The kernel filters out other tables, where it can: a host may have thousands of rules.
  if (kind.message == NFT_MSG_GETRULE || kind.message == NFT_MSG_GETOBJ) {
    message.put(kind.table_attribute, table_name);
  }
  return netfilter.ask(message, [&](const nlmsghdr& part) {
    bool is_ours = false;
    std::string bytes;
    for_attributes(part, sizeof(nfgenmsg), [&](std::uint16_t type, const nlattr& attribute) {
      if (type == kind.table_attribute) is_ours = text_of(attribute) == table_name;
      if (kind.attributes.count(type) == 0) return;
      bytes += std::to_string(type) + ":" + std::to_string(bytes_of(attribute).size()) + ":";
      bytes += bytes_of(attribute);
    });
    if (is_ours) shape += bytes;
  });
}

}  // namespace

AgentElements AllElements::of(const Agent& agent) const {
  AgentElements found;
  const auto device = device_name(agent.id);
  if (const auto at = agents.find({device, agent.address}); at != agents.end()) {
    found.passed = at->second;
  }
  if (const auto at = refused.find(device); at != refused.end()) found.refused = at->second;
  found.is_captured = captured.count({device, agent.address}) != 0;
  return found;
}

Result<AgentElements> read_elements(Netlink& netfilter, const Agent& agent) {
  const auto passed = read_element(netfilter, agents_set, key_of(agent, true));
  if (!passed) return passed.error();
  const auto refused = read_element(netfilter, refused_set, key_of(agent, false));
  if (!refused) return refused.error();
  const auto captured = read_element(netfilter, captured_set, key_of(agent, true));
  if (!captured) return captured.error();
  return AgentElements{*passed, *refused, captured->has_value()};
}

Result<AllElements> read_all_elements(Netlink& netfilter) {
  AllElements all;
  const auto device_of = [](const std::string& key) { return std::string{key.c_str()}; };
  const auto address_of = [](const std::string& key) {
    std::uint32_t address = 0;
    std::memcpy(&address, key.data() + name_bytes, sizeof address);
    return acl::Address::v4(ntohl(address));
  };
  auto done = read_set(netfilter, agents_set, [&](const Element& element) {
    if (element.key.size() != pair_bytes) return;
    all.agents[{device_of(element.key), address_of(element.key)}] = element.count;
  });
  if (!done) return done.error();
  done = read_set(netfilter, captured_set, [&](const Element& element) {
    if (element.key.size() != pair_bytes) return;
    all.captured.emplace(device_of(element.key), address_of(element.key));
  });
  if (!done) return done.error();
  done = read_set(netfilter, refused_set, [&](const Element& element) {
    all.refused[device_of(element.key)] = element.count;
  });
  if (!done) return done.error();
  return all;
}

Result<std::string> table_shape(Netlink& netfilter) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::string shape;
    bool is_complete = true;
    for (const auto& kind : kinds()) {
      const auto answer = append_kind(netfilter, kind, shape);
      if (answer.code == EINTR) {
        is_complete = false;
        break;
      }
      if (!answer.is_ok()) return answer.error("cannot read the table");
    }
    if (is_complete) return text_result(std::move(shape));
  }
  return Error{"the table changes faster than it can be read"};
}

}  // namespace stile::netns
