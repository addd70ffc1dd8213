// SPDX-License-Identifier: Apache-2.0
#include "core/device.h"

#include "core/catalog.h"
#include "core/error.h"
#include "core/json_value.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>

namespace kvcaliper {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 50;

// ---- one entry ----------------------------------------------------------------------------------

/// An object of gpus.json with its place, for errors.
struct Entry {
    const std::string& file;
    std::string pointer;
    const JsonValue& value;

    [[noreturn]] void fail(std::string_view key, std::string_view expected) const {
        const JsonValue* found = value.find(key);
        throw input_error(file, pointer + "/" + std::string(key), expected,
                          found ? describe(*found) : "nothing");
    }
    std::string text(std::string_view key) const {
        const JsonValue* found = value.find(key);
        if (!found || !found->if_string() || found->if_string()->empty()) {
            fail(key, "a text");
        }
        return *found->if_string();
    }
    std::int64_t integer(std::string_view key, std::int64_t most) const {
        const JsonValue* found = value.find(key);
        const auto* number = found ? found->if_integer() : nullptr;
        if (!number || *number < 1 || *number > most) {
            fail(key, "an integer from 1 to " + std::to_string(most));
        }
        return *number;
    }
    bool has(std::string_view key) const { return value.find(key) != nullptr; }
};

/// A short name, as it is typed: small letters, digits, dots and hyphens.
std::string short_name(const Entry& entry) {
    std::string name = entry.text("name");
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    });
    if (!plain) {
        entry.fail("name", "small letters, digits, dots and hyphens");
    }
    return name;
}

DeviceKind kind_of(const Entry& entry) {
    const std::string word = entry.text("kind");
    for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::unified}) {
        if (word == to_string(kind)) {
            return kind;
        }
    }
    entry.fail("kind", "\"gpu\" or \"unified\"");
}

bool nominal_of(const Entry& entry) {
    const JsonValue* found = entry.value.find("nominal");
    if (found && !found->if_bool()) {
        entry.fail("nominal", "true or false");
    }
    return found && *found->if_bool();
}

Device read_device(const Entry& entry) {
    Device device;
    device.name = short_name(entry);
    device.display_name = entry.text("display_name");
    device.vendor = entry.text("vendor");
    device.kind = kind_of(entry);
    device.memory = Bytes(entry.integer("memory_bytes", most_bytes));
    device.usable = entry.has("usable_bytes")
                        ? Bytes(entry.integer("usable_bytes", device.memory.count()))
                        : device.memory;
    device.nominal = nominal_of(entry);
    device.bandwidth = entry.integer("bandwidth_bytes_per_second", most_bytes);
    device.source = entry.text("source");
    return device;
}

UsableShare read_share(const Entry& entry) {
    return {entry.text("name"), entry.text("of"), entry.integer("permille", 1000),
            entry.text("source")};
}

// ---- files --------------------------------------------------------------------------------------

/// The elements of a list in the file, each read by `read`; none where the list may be absent.
template <typename Read>
auto read_list(const std::string& file, const JsonValue& value, const std::string& key, Read read) {
    std::vector<decltype(read(Entry{file, "", value}))> result;
    const JsonValue* list = value.find(key);
    if (list && !list->is_array()) {
        throw input_error(file, "/" + key, "a list", describe(*list));
    }
    for (std::size_t i = 0; list && i < list->if_array()->size(); ++i) {
        const JsonValue& element = (*list->if_array())[i];
        result.push_back(read(Entry{file, "/" + key + "/" + std::to_string(i), element}));
    }
    return result;
}

void expect_unique(const std::string& file, const std::vector<Device>& devices) {
    for (std::size_t i = 1; i < devices.size(); ++i) {
        const auto same = [&](const Device& one) { return one.name == devices[i].name; };
        if (std::any_of(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i), same)) {
            throw input_error(file, "/gpus/" + std::to_string(i) + "/name", "each name once",
                              devices[i].name + " twice");
        }
    }
}

JsonValue read_gpus_file(const std::string& file) {
    JsonValue value = read_json_file(file).value;
    if (!value.is_object() || !value.find("gpus")) {
        throw input_error(file, "", "an object with a list gpus", describe(value));
    }
    return value;
}

std::vector<Device> devices_of(const std::string& file, const JsonValue& value) {
    auto devices = read_list(file, value, "gpus", read_device);
    expect_unique(file, devices);
    return devices;
}

void replace_or_add(std::vector<Device>& devices, Device device) {
    const auto same = std::find_if(devices.begin(), devices.end(),
                                   [&](const Device& one) { return one.name == device.name; });
    if (same != devices.end()) {
        *same = std::move(device);
    } else {
        devices.push_back(std::move(device));
    }
}

struct DeviceTable {
    std::vector<Device> devices;
    std::vector<UsableShare> shares;
};

/// A file as it was when it was read; an empty path where there is none.
struct FileState {
    std::string path;
    fs::file_time_type time{};
    std::uintmax_t size = 0;
    friend bool operator==(const FileState&, const FileState&) = default;
};

FileState state_of(const fs::path& path) {
    std::error_code none;
    FileState state{path.string()};
    state.time = fs::last_write_time(path, none);
    state.size = fs::file_size(path, none);
    return state;
}

/// The files a table is read from.
struct TableFiles {
    FileState bundled;
    FileState own;
    friend bool operator==(const TableFiles&, const TableFiles&) = default;
};

TableFiles table_files() {
    TableFiles files{state_of(fs::path(data_folder()) / "gpus.json"), {}};
    const std::string folder = user_folder();
    std::error_code none;
    if (const fs::path own = fs::path(folder) / "gpus.json";
        !folder.empty() && fs::exists(own, none)) {
        files.own = state_of(own);
    }
    return files;
}

DeviceTable read_table(const TableFiles& files) {
    const JsonValue bundled = read_gpus_file(files.bundled.path);
    DeviceTable table{devices_of(files.bundled.path, bundled),
                      read_list(files.bundled.path, bundled, "shares", read_share)};
    if (!files.own.path.empty()) {
        for (Device& device : devices_of(files.own.path, read_gpus_file(files.own.path))) {
            replace_or_add(table.devices, std::move(device));
        }
    }
    return table;
}

/// Read once, and again when a file has changed: a window asks for every model at every step of a
/// slider, and stays open for days.
std::shared_ptr<const DeviceTable> device_table() {
    static std::mutex mutex;
    static TableFiles read_from;
    static std::shared_ptr<const DeviceTable> table;
    const std::lock_guard lock(mutex);
    if (TableFiles files = table_files(); table == nullptr || files != read_from) {
        table = std::make_shared<const DeviceTable>(read_table(files));
        read_from = std::move(files);
    }
    return table;
}

/// Names that go on where `name` ends ("h100-80 or h100-nvl-94" for "h100"), else the nearest one.
std::string near_names(const std::string& name, const std::vector<std::string>& names) {
    std::string longer;
    for (const std::string& one : names) {
        if (!name.empty() && one.starts_with(name)) {
            longer += (longer.empty() ? "" : " or ") + one;
        }
    }
    return longer.empty() ? nearest_word(name, names) : longer;
}

} // namespace

std::string_view to_string(DeviceKind kind) {
    switch (kind) {
    case DeviceKind::gpu:
        return "gpu";
    case DeviceKind::unified:
        return "unified";
    }
    return "";
}

std::vector<Device> known_devices() {
    return device_table()->devices;
}

Device find_device(const std::string& name) {
    const auto table = device_table();
    std::vector<std::string> names;
    for (const Device& device : table->devices) {
        if (device.name == name) {
            return device;
        }
        names.push_back(device.name);
    }
    const std::string near = near_names(name, names);
    throw Error("expected a known GPU (see `list gpus`), found \"" + name + "\"" +
                (near.empty() ? "" : "; did you mean " + near + "?"));
}

std::vector<UsableShare> usable_shares() {
    return device_table()->shares;
}

} // namespace kvcaliper
