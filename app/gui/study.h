// SPDX-License-Identifier: GPL-3.0-or-later
// The document of the window: which models are compared under which settings. Views read it and
// observe changed(); every edit goes through its undo stack.
#pragma once

#include "app/gui/record_words.h"
#include "core/error.h"
#include "core/estimate.h"
#include "core/weights.h"

#include <QHash>
#include <QMap>
#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <variant>
#include <vector>

class QUndoStack;

namespace kvcaliper::gui {

class RecordBook;

/// Where the models of a study are to run, for the Budget page alone: the other pages show what is
/// required.
struct BudgetState {
    QString device = QStringLiteral("h100-80"); ///< of configs/gpus.json
    QString engine = QStringLiteral("ideal");
    std::int64_t tensor = 1;        ///< tensor ranks
    QMap<QString, QString> weights; ///< by model, as written: "16 GB"; auto where absent
    std::int64_t pipeline = 1;      ///< ranks that divide the layers
    std::int64_t context = 1;       ///< ranks that divide the tokens
    std::int64_t data = 1;          ///< ranks that divide the sequences
    /// By engine, then by the option's name: what is set; defaults where absent. An engine's
    /// options wait here while another one is chosen.
    QMap<QString, QMap<QString, QString>> options{};

    Parallelism parallel() const { return {tensor, pipeline, context, data}; }
    friend bool operator==(const BudgetState&, const BudgetState&) = default;
};

/// What the chart over the context shows beside the curves. Part of the study, so that a chart made
/// from its file is the one that was seen.
struct ContextView {
    QStringList devices;    ///< of configs/gpus.json, each a line at its memory
    bool linear = false;    ///< both axes; logarithmic otherwise
    bool crossings = true;  ///< where curves meet each other and those lines
    bool recompute = false; ///< token reads without a cache, in a chart of their own below
    friend bool operator==(const ContextView&, const ContextView&) = default;
};

/// A config that lives in the study and in no file: an edited copy of a model.
struct StudyConfig {
    QString json;
    QString from; ///< the model it was copied from; empty when it was pasted
    friend bool operator==(const StudyConfig&, const StudyConfig&) = default;
};

/// What a study file holds. Compared as a whole, so that an edit without effect is none.
struct StudyState {
    QStringList models; ///< bundled names or paths, in the order they are shown
    QString baseline;   ///< one of them; the first when it is not among them
    Settings settings;
    BudgetState budget;
    QMap<QString, StudyConfig> configs; ///< by the names their models have in `models`
    ContextView context_view{};
    friend bool operator==(const StudyState&, const StudyState&) = default;
};

/// One model of the study: its answer, or why there is none.
struct StudyRow {
    QString id;
    QString name;
    ModelPtr model;                   ///< null when the file could not be read
    std::optional<Estimate> estimate; ///< empty when the settings do not fit the model
    QString error;
};

/// What a run said about one model under the study's settings.
struct Verification {
    bool equal = false; ///< measured what is predicted; else refuted, or stale
    QString summary;    ///< device, date and verdict in words
};

class Study : public QObject {
    Q_OBJECT

  public:
    /// Whether an edit joins the one before it (one drag of a slider is one undo step).
    enum class Merge { no, yes };

    explicit Study(QObject* parent = nullptr);
    ~Study() override;

    const StudyState& state() const { return state_; }
    const Settings& settings() const { return state_.settings; }
    const std::vector<StudyRow>& rows() const { return rows_; }
    const StudyRow* row(const QString& id) const;
    /// The models that could be read, for questions about all of them.
    std::vector<ModelPtr> readModels() const;
    /// The baseline as it counts: the first model when none is named.
    QString effectiveBaseline() const;
    QUndoStack* undoStack() const { return undo_; }

    // Edits. Each is one command, or none when nothing changes.
    void setModels(const QStringList& models);
    void setTicked(const QString& id, bool ticked);
    void setBaseline(const QString& id);
    void setContext(Tokens context, Merge merge = Merge::no);
    void setSequences(std::int64_t sequences, Merge merge = Merge::no);
    void setFormat(FormatClass format_class, const QString& format);
    void setKFormat(const QString& format) { setFormat(FormatClass::k, format); }
    void setVFormat(const QString& format) { setFormat(FormatClass::v, format); }
    void setBudget(const BudgetState& budget);
    void setDevice(const QString& name);
    void setEngine(const QString& name);
    void setTensor(std::int64_t ranks);
    void setParallel(const Parallelism& parallel);
    /// An option of the chosen engine, under its long name; empty for its default.
    void setEngineOption(const QString& name, const QString& value);
    /// Bytes of one model's weights as written; empty for auto.
    void setWeights(const QString& id, const QString& written);
    void setContextView(const ContextView& view);
    /// Gives the study a config of its own under that name, or another one in its place. A new one
    /// is ticked behind the model it was made from, and becomes the current one.
    void setConfig(const QString& name, const StudyConfig& config, Merge merge = Merge::no);
    /// The next edit starts a new undo step, whatever it would merge with.
    void endMerge() { ++merge_serial_; }

    /// Another study in this one's place, as the start of it: nothing can be undone, and files are
    /// read again.
    void reset(const StudyState& state);

    /// Reads a model, again when it was read before, without ticking it; the reason when it can not
    /// be read.
    std::optional<QString> readModel(const QString& id);

    // What is looked at. No edit, so not undone.
    const QString& current() const { return current_; }
    void setCurrent(const QString& id);

    // What was measured. Records are facts and no edits, and are not undone; deleting one is.
    /// What `auto` tells of the weights of a row's model: read from its files or worked out once,
    /// and again when the model is. Throws Error as weights_of() does.
    const Weights& autoWeights(const StudyRow& row) const;
    RecordBook& records() { return *records_; }
    const RecordBook& records() const { return *records_; }
    void deleteRecord(const QString& id);
    /// Context, sequences, formats and model of a record as one edit; the reason when its model is
    /// neither in the study nor bundled.
    std::optional<QString> useRecord(const QString& id);
    /// How a figure of a model is known under the settings of the study.
    Evidence evidence(const QString& id, FigureKind figure) const;
    Badge badge(const QString& id, FigureKind figure = FigureKind::total) const;
    /// What a run said about the total; null where there is none.
    const Verification* verification(const QString& id) const;
    /// The row a record is about, or null.
    const StudyRow* rowOf(const VerifyRecord& record) const;

  Q_SIGNALS:
    void changed();
    void currentChanged();
    void recordsChanged();

  private:
    friend class EditCommand;
    void edit(StudyState next, const QString& name, int field, Merge merge);
    void apply(const StudyState& state);
    ModelPtr load(const QString& id, QString& error);
    ModelPtr readConfigOf(const QString& id) const;
    void forgetChanged(const QMap<QString, StudyConfig>& next);
    void forgetEvidence();
    StudyRow makeRow(const QString& id);

    QUndoStack* undo_;
    StudyState state_;
    std::vector<StudyRow> rows_;
    QHash<QString, ModelPtr> loaded_;
    RecordBook* records_;
    // Worked out when they are asked for, and forgotten with every change.
    mutable QHash<QString, FigureEvidence> evidence_;
    mutable QHash<QString, Verification> verifications_;
    /// Of models as they were read; a reason stands in for weights that can not be told.
    struct KnownWeights {
        ModelPtr of;
        std::variant<Weights, Error> weights;
    };
    mutable QHash<QString, std::shared_ptr<const KnownWeights>> weights_;
    QString current_;
    int merge_serial_ = 0;
};

/// The opening comparison.
StudyState seed_state();
/// Ticks the models of the opening comparison, as the start of a study and not as an edit of it.
void open_seed(Study& study);

} // namespace kvcaliper::gui
