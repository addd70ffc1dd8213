// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/study_records.h"

#include "app/gui/record_book.h"
#include "app/gui/text.h"
#include "core/error.h"

#include <exception>
#include <set>

namespace kvcaliper::gui {

namespace {

constexpr const char* records_key = "records";

bool readable(const JsonValue& json) {
    try {
        verify_record_from_json(json, "");
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

/// The latest records of the models that are in the study.
JsonValue::Array records_of(const Study& study) {
    std::set<QString> chosen;
    for (const ModelPtr& model : study.readModels()) {
        int count = 0;
        for (const BookedRecord& entry : study.records().all()) {
            if (count < records_per_model && same_model(*entry.record, model->plan)) {
                chosen.insert(entry.id);
                ++count;
            }
        }
    }
    JsonValue::Array records;
    for (const BookedRecord& entry : study.records().all()) {
        if (chosen.contains(entry.id)) {
            records.push_back(entry.record->json);
        }
    }
    return records;
}

} // namespace

std::vector<VerifyRecordPtr> read_study_records(const JsonValue& document, const QString& path,
                                                QStringList& problems) {
    std::vector<VerifyRecordPtr> records;
    const JsonValue* list = document.find(records_key);
    if (list == nullptr) {
        return records;
    }
    if (list->if_array() == nullptr) {
        problems << text(
            input_error(utf8(path), "/records", "a list of records", describe(*list)).what());
        return records;
    }
    for (std::size_t i = 0; i < list->if_array()->size(); ++i) {
        try {
            records.push_back(std::make_shared<const VerifyRecord>(verify_record_from_json(
                (*list->if_array())[i], utf8(path) + ": /records/" + std::to_string(i))));
        } catch (const std::exception& exception) {
            problems << text(exception.what());
        }
    }
    return records;
}

void set_study_records(JsonValue& document, const Study& study) {
    JsonValue::Array records = records_of(study);
    const JsonValue* before = document.find(records_key);
    if (before != nullptr && before->if_array() == nullptr) {
        return; // whatever that is, it is not ours
    }
    for (const JsonValue& json : before ? *before->if_array() : JsonValue::Array{}) {
        if (!readable(json)) {
            records.push_back(json);
        }
    }
    if (before != nullptr || !records.empty()) {
        document.set(records_key, std::move(records));
    }
}

} // namespace kvcaliper::gui
