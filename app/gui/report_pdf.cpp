// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/report_pdf.h"

#include "app/gui/chart_export.h"
#include "app/gui/report_html.h"
#include "app/gui/text.h"
#include "core/error.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QCoreApplication>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextObjectInterface>
#include <QTextTable>

#include <algorithm>
#include <cmath>

namespace kvcaliper::gui {

namespace {

constexpr int dots_per_inch = 600;
constexpr double css_dots_per_inch = 96;
constexpr auto attachment_name = "study.kvstudy.json";

// What Qt's documents understand of the page's look.
constexpr auto style = R"(
h1 { font-size: 18pt; margin: 0 0 8px 0; }
h2 { font-size: 13pt; margin: 22px 0 6px 0; }
h3 { font-size: 10pt; margin: 12px 0 2px 0; }
p { margin: 5px 0; }
p.answer { font-size: 11pt; }
p.made, p.command { color: #5c5c62; font-size: 7.5pt; }
code { font-family: "DejaVu Sans Mono", monospace; color: #1a1a1c; }
table { margin: 6px 0; border-collapse: collapse; }
th { background-color: #efeff2; text-align: left; font-size: 8pt; white-space: nowrap; }
.number { white-space: nowrap; }
td { font-size: 8pt; border-bottom: 1px solid #d8d8dc; }
td.failed { color: #a63f00; font-weight: bold; }
ul { margin: 2px 0; }
li { font-size: 8.5pt; }
)";

/// Charts in a text, painted as lines and letters and not as pixels.
class ChartPainter : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)

  public:
    explicit ChartPainter(QSizeF page) : page_(page) {}

    /// Keeps a chart; its number is what an image's name then says.
    QString add(const ChartData& chart) {
        svgs_.push_back(chart_svg(chart, light_chart_theme(), report_chart_size(chart)));
        sizes_.push_back(report_chart_size(chart));
        return QString::number(svgs_.size() - 1);
    }

    /// Scaled to the width of the page, and down where it would not stand on one below a title.
    QSizeF intrinsicSize(QTextDocument*, int, const QTextFormat& format) override {
        const QSizeF size = sizes_[index(format)];
        const double scale =
            std::min(page_.width() / size.width(), 0.78 * page_.height() / size.height());
        return size * scale;
    }

    void drawObject(QPainter* painter, const QRectF& rect, QTextDocument*, int,
                    const QTextFormat& format) override {
        QSvgRenderer(svgs_[index(format)]).render(painter, rect);
    }

  private:
    std::size_t index(const QTextFormat& format) const {
        return format.toImageFormat().name().toULong();
    }

    QSizeF page_;
    std::vector<QByteArray> svgs_;
    std::vector<QSize> sizes_;
};

/// A paragraph or a table of the text, in order.
struct Piece {
    QTextBlock block;
    QTextTable* table = nullptr;

    bool is_heading() const { return table == nullptr && block.blockFormat().headingLevel() > 0; }
};

std::vector<Piece> pieces_of(const QTextDocument& document) {
    std::vector<Piece> pieces;
    for (auto at = document.rootFrame()->begin(); !at.atEnd(); ++at) {
        pieces.push_back({at.currentBlock(), qobject_cast<QTextTable*>(at.currentFrame())});
    }
    return pieces;
}

/// Where a piece begins, and down to where it is to stay on one page: a paragraph its first line, a
/// table of a third of a page and less as a whole, a longer one its beginning.
struct Extent {
    double top;
    double bottom;
};

Extent extent_of(const QTextDocument& document, const Piece& piece) {
    const QAbstractTextDocumentLayout& layout = *document.documentLayout();
    if (piece.table != nullptr) {
        const QRectF rect = layout.frameBoundingRect(piece.table);
        const double most = document.pageSize().height() / 3;
        return {rect.top(), rect.top() + (rect.height() < most ? rect.height() : 0)};
    }
    const QRectF rect = layout.blockBoundingRect(piece.block);
    const QTextLine line = piece.block.layout()->lineAt(0);
    const double top = rect.top() + (line.isValid() ? line.y() : 0);
    return {top, top + (line.isValid() ? line.height() : 0)};
}

/// The last piece of those that stay together from `first` on: headings, what follows them, and
/// the table that this introduces.
std::size_t last_together(const std::vector<Piece>& pieces, std::size_t first) {
    std::size_t last = first;
    while (last + 1 < pieces.size() && pieces[last].is_heading()) {
        ++last;
    }
    const bool introduces = last > first && last + 1 < pieces.size() &&
                            pieces[last].table == nullptr && pieces[last + 1].table != nullptr;
    return introduces ? last + 1 : last;
}

void break_before(QTextDocument& document, const Piece& piece) {
    if (piece.table != nullptr) {
        QTextTableFormat format = piece.table->format();
        format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
        piece.table->setFormat(format);
    } else {
        QTextBlockFormat format = piece.block.blockFormat();
        format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
        QTextCursor(piece.block).setBlockFormat(format);
    }
    document.markContentsDirty(0, document.characterCount()); // all that follows moves
}

/// No heading stays behind at the end of a page, and no small table is divided.
void keep_together(QTextDocument& document) {
    const std::vector<Piece> pieces = pieces_of(document);
    const double page = document.pageSize().height();
    for (std::size_t first = 0; first < pieces.size(); ++first) {
        const std::size_t last = last_together(pieces, first);
        const double top = extent_of(document, pieces[first]).top;
        const double bottom = extent_of(document, pieces[last]).bottom;
        if (std::floor(top / page) != std::floor((bottom - 1) / page)) {
            break_before(document, pieces[first]);
        }
        first = last;
    }
}

void draw_footer(QPainter& painter, const QSizeF& page, const QString& left, const QString& right) {
    const QRectF rect(0, page.height(), page.width(), dots_per_inch * 0.3);
    QFont font = painter.font();
    font.setPointSizeF(7);
    painter.save();
    painter.setFont(font);
    painter.setPen(QColor(92, 92, 98));
    painter.drawText(rect, Qt::AlignLeft | Qt::AlignBottom, left);
    painter.drawText(rect, Qt::AlignRight | Qt::AlignBottom, right);
    painter.restore();
}

void draw_page(QPainter& painter, const QTextDocument& document, int page) {
    const QSizeF size = document.pageSize();
    const QRectF part(0, page * size.height(), size.width(), size.height());
    painter.save();
    painter.translate(0, -part.top());
    painter.setClipRect(part);
    QAbstractTextDocumentLayout::PaintContext context;
    context.clip = part;
    context.palette.setColor(QPalette::Text, QColor(26, 26, 28));
    document.documentLayout()->draw(&painter, context);
    painter.restore();
}

void draw_pages(QPdfWriter& writer, const QTextDocument& document, const Report& report) {
    QPainter painter(&writer);
    painter.setFont(document.defaultFont());
    const int pages = document.pageCount();
    for (int page = 0; page < pages; ++page) {
        if (page > 0) {
            writer.newPage();
        }
        draw_page(painter, document, page);
        draw_footer(
            painter, document.pageSize(), QStringLiteral("%1 — %2").arg(report.title, report.made),
            QCoreApplication::translate("Report", "page %1 of %2").arg(page + 1).arg(pages));
    }
}

void set_up(QPdfWriter& writer, const Report& report) {
    writer.setResolution(dots_per_inch);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF(15, 14, 15, 20), QPageLayout::Millimeter);
    writer.setTitle(report.title);
    writer.setCreator(QStringLiteral("kvcaliper %1").arg(text(version)));
    writer.addFileAttachment(QLatin1String(attachment_name),
                             QByteArray::fromStdString(dump_json(report.study) + "\n"),
                             QStringLiteral("application/json"));
}

// ---- the attachment, as Qt writes it ------------------------------------------------------------

/// What stands between two marks, from the first `open` after `from` on; empty where they are not.
QByteArray between(const QByteArray& file, const QByteArray& open, const char* close,
                   qsizetype from = 0) {
    const auto start = file.indexOf(open, from);
    const auto end = start < 0 ? -1 : file.indexOf(close, start + open.size());
    return end < 0 ? QByteArray() : file.mid(start + open.size(), end - start - open.size());
}

/// A stream that is inflated may grow a thousandfold: one that is this large is no study.
constexpr qsizetype largest_stream = qsizetype{256} << 10;

QByteArray inflated(QByteArray stream) {
    if (stream.isEmpty() || stream.size() > largest_stream) {
        return {};
    }
    const char size_unknown[] = {0, 0, 0, 0}; // what qUncompress expects in front
    return qUncompress(stream.prepend(size_unknown, sizeof size_unknown));
}

QByteArray first_attachment(const QByteArray& file) {
    const QByteArray object = between(file, "/EF <</F ", " 0 R>>");
    const auto start = object.isEmpty() ? -1 : file.indexOf("\n" + object + " 0 obj\n");
    return start < 0 ? QByteArray() : inflated(between(file, "stream\n", "\nendstream", start));
}

} // namespace

QByteArray report_pdf(const Report& report) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    set_up(writer, report);
    const QSizeF page(writer.width(), writer.height());
    ChartPainter charts(page);
    QTextDocument document;
    document.documentLayout()->setPaintDevice(&writer);
    document.documentLayout()->registerHandler(QTextFormat::ImageObject, &charts);
    document.setDefaultFont(QFont(QStringLiteral("DejaVu Sans"), 9));
    document.setDefaultStyleSheet(QLatin1String(style));
    document.setDocumentMargin(0);
    document.setIndentWidth(16);
    document.setHtml(
        report_body(report, [&charts](const ChartData& chart) { return charts.add(chart); }));
    document.setPageSize(page);
    keep_together(document);
    draw_pages(writer, document, report);
    return bytes;
}

JsonValue study_of_pdf(const QByteArray& file, const std::string& source) {
    const QByteArray study = first_attachment(file);
    if (!study.contains("\"kvcaliper_study\"")) {
        throw Error(source + ": expected a report of kvcaliper, found no study attached to it");
    }
    return parse_json({study.constData(), static_cast<std::size_t>(study.size())}, source).value;
}

} // namespace kvcaliper::gui

#include "report_pdf.moc"
