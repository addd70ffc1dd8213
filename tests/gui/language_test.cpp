// SPDX-License-Identifier: GPL-3.0-or-later
// The translation: whole, with the same placeholders, and really spoken.
#include "app/gui/language.h"
#include "app/gui/main_window.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QSet>
#include <QXmlStreamReader>

namespace kvcaliper::gui::test {
namespace {

struct Message {
    QString source;
    QString translation;
    bool finished = true;
};

std::vector<Message> korean() {
    QFile file(s(KVCALIPER_SOURCE "/resources/i18n/kvcaliper_ko.ts"));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    QXmlStreamReader xml(&file);
    std::vector<Message> messages;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) {
            continue;
        }
        if (xml.name() == s("source")) {
            messages.push_back({xml.readElementText(), {}, true});
        } else if (xml.name() == s("translation")) {
            messages.back().finished = !xml.attributes().hasAttribute(s("type"));
            messages.back().translation =
                xml.readElementText(QXmlStreamReader::IncludeChildElements);
        }
    }
    EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
    return messages;
}

/// "%1" and the like, as a set: their order may change with the language.
QSet<QString> placeholders(const QString& text) {
    QSet<QString> found;
    auto matches = QRegularExpression(s("%\\d")).globalMatch(text);
    while (matches.hasNext()) {
        found << matches.next().captured();
    }
    return found;
}

TEST(Language, KoreanIsWholeWithTheSamePlaceholders) {
    const std::vector<Message> messages = korean();
    EXPECT_GT(messages.size(), 300U);
    for (const Message& message : messages) {
        EXPECT_TRUE(message.finished) << message.source.toStdString();
        EXPECT_EQ(placeholders(message.source), placeholders(message.translation))
            << message.source.toStdString();
        // A menu keeps its key.
        EXPECT_EQ(message.source.contains(QRegularExpression(s("&\\w"))),
                  message.translation.contains(QRegularExpression(s("&\\w"))))
            << message.source.toStdString();
    }
}

#ifdef KVCALIPER_TRANSLATIONS
QStringList menus_in(const QString& language) {
    use_language(language);
    const MainWindow window;
    QStringList titles;
    for (const QAction* action : window.menuBar()->actions()) {
        titles << action->text();
    }
    use_language(s("en"));
    return titles;
}

TEST(Language, TheWindowSpeaksIt) {
    EXPECT_EQ(menus_in(s("ko")).first(), s("파일(&F)"));
    EXPECT_EQ(menus_in(s("en")).first(), s("&File"));
}
#endif

} // namespace
} // namespace kvcaliper::gui::test
