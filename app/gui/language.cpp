// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/language.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>

/// Resources in a static library are known to nobody until they are named; outside any namespace.
static void know_translations() {
#ifdef KVCALIPER_TRANSLATIONS
    Q_INIT_RESOURCE(i18n);
#endif
}

namespace kvcaliper::gui {

namespace {

/// One of each for the whole program, taken away when the language changes.
QTranslator& own_words() {
    static QTranslator translator;
    return translator;
}

QTranslator& words_of_qt() {
    static QTranslator translator;
    return translator;
}

void install(QTranslator& translator, const QLocale& locale, const QString& name,
             const QString& folder) {
    QCoreApplication::removeTranslator(&translator);
    if (translator.load(locale, name, QStringLiteral("_"), folder)) {
        QCoreApplication::installTranslator(&translator);
    }
}

} // namespace

QStringList language_names() {
    return {QStringLiteral("system"), QStringLiteral("en"), QStringLiteral("ko")};
}

void use_language(const QString& name) {
    know_translations();
    const QLocale locale = name == QStringLiteral("system") ? QLocale::system() : QLocale(name);
    install(words_of_qt(), locale, QStringLiteral("qtbase"),
            QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    install(own_words(), locale, QStringLiteral("kvcaliper"), QStringLiteral(":/i18n"));
}

} // namespace kvcaliper::gui
