from __future__ import annotations

import pytest
from hypothesis import given

from brim.behaviors.words import language_spoken, stems, words_of
from tests.texts import ANY_TEXT


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", "Prüfung Prüfungen prüfen prüfe"),
        ("de", "Datei Dateien"),
        ("de", "Fehler Fehlern"),
        ("fr", "tester teste testez testent testé tests"),
        ("fr", "fichier fichiers"),
        ("fr", "migration migrations migrer"),
        ("es", "migración migraciones migrar"),
        ("es", "archivo archivos"),
        ("pt", "migração migrações migrar"),
        ("pt", "arquivo arquivos"),
    ],
)
def test_forms_of_a_word_have_one_stem_in_their_language(language: str, forms: str) -> None:
    assert len({tuple(stems(form.lower(), language)) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Run the tests before you commit", "en"),
        ("Vor jedem Commit die Tests ausführen", "de"),
        ("Toujours lancer les tests avant un commit", "fr"),
        ("Siempre ejecuta las pruebas antes del commit", "es"),
        ("Sempre rode os testes antes do commit", "pt"),
        ("pytest", "en"),
    ],
)
def test_function_words_tell_the_language(text: str, language: str) -> None:
    assert language_spoken(text.lower().split()) == language


@pytest.mark.parametrize(
    ("rule", "prompt"),
    [
        (
            "Neue Migrationen nie von Hand ändern",
            "Kannst du die Migration für die Bestellungen ändern?",
        ),
        (
            "Les fichiers générés ne sont jamais modifiés",
            "Modifie le fichier généré pour les tests",
        ),
        ("Все тесты должны проходить", "Добавь новый тест для парсера"),
        ("Esegui sempre i controlli prima del rilascio", "Aggiungi un controllo per gli ordini"),
    ],
)
def test_rule_and_prompt_of_one_language_meet(rule: str, prompt: str) -> None:
    assert words_of(rule) & words_of(prompt)


@given(ANY_TEXT)
def test_stems_are_the_same_every_time_and_never_empty(text: str) -> None:
    assert words_of(text) == words_of(text)
    assert all(words_of(text))
