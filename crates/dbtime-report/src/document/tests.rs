//! No text of any block is markup or drives a terminal; and what each form shows of limits, folds,
//! bars, commands and drawings.

use super::*;
use crate::terminal::{TextCell, TextColumn};
use dbtime_model::plain_text::is_treacherous;
use proptest::prelude::*;

fn table(text: &str) -> ReportTable {
    let mut table = ReportTable::new(vec![TextColumn::text(text), TextColumn::figure("n")]);
    table.group(text);
    table.title(text);
    table.row(vec![text.into(), TextCell::new(text, TextRole::Good)]);
    table.more(vec![text.into(), TextCell::bar(0.5, 20, TextRole::Plain)]);
    table.detail(text);
    table
}

/// Every block, with this text wherever a text may stand.
fn document_of(text: &str) -> ReportDocument {
    let mut document = ReportDocument::new("dbtime test", text);
    document.fact(text, text, TextRole::Bad);
    document.fact("", text, TextRole::Bold);
    document.fact_table(text, &table(text));
    document.fact("", text, TextRole::Dim);
    document.gap();
    document.callout(text);
    document.remark(text, TextRole::Plain);
    document.heading(text);
    document.paragraph(text, TextRole::Dim);
    document.table(&table(text));
    let rest = RestOfRows::Text(text.to_owned());
    document.limited_table(&table(text), Some(RowLimit::new(0, rest)));
    let rest = RestOfRows::Cells(vec![text.into(), "1".into()]);
    document.limited_table(&table(text), Some(RowLimit::new(0, rest)));
    let rest = RestOfRows::LastRows(0, text.to_owned());
    document.captioned_table(text, &table(text), Some(RowLimit::new(0, rest)));
    document.markup("<hr/>".to_owned());
    let lines = DrawnLines::Fixed(vec![text.to_owned()]);
    document.drawing(DocumentDrawing { title: text.to_owned(), lines, charts: Vec::new() });
    let inner = document.clone();
    document.fold(text, true, inner);
    document
}

/// The elements of a page, by a strict parser.
fn elements(page: &str) -> Vec<String> {
    let page = page.strip_prefix("<!DOCTYPE html>\n").expect("a doctype");
    let parsed = roxmltree::Document::parse(page).unwrap_or_else(|error| panic!("{error}: {page}"));
    let elements = parsed.descendants().filter(|node| node.is_element());
    elements.map(|node| node.tag_name().name().to_owned()).collect()
}

/// How often a sign stands in Markdown so that it means something: neither behind a stroke nor in
/// the indented lines of a drawing.
fn meant(markdown: &str, sign: char) -> usize {
    let lines = markdown.lines().filter(|line| !line.starts_with("    "));
    let of_line = |line: &str| {
        let line = line.replace("\\\\", "");
        line.matches(sign).count() - line.matches(format!("\\{sign}").as_str()).count()
    };
    lines.map(of_line).sum()
}

proptest! {
    #[test]
    fn no_text_of_any_block_is_markup_or_drives_a_terminal(
        text in "[ -~\\x00-\\x1f\\u{7f}-\\u{9f}\\u{61c}\\u{200b}-\\u{2070}äµ表]{1,40}"
    ) {
        let document = document_of(&text);
        let (page, markdown) = (document.html(), document.markdown());
        let style = PageStyle::default();
        let texts = [document.text(style), document.wide_text(style, Some(80))];
        for form in texts.iter().chain([&page, &markdown]) {
            let is_driving = |sign: char| is_treacherous(sign) && sign != '\n';
            prop_assert!(!form.contains(is_driving), "{:?}", form);
        }
        let plain = document_of("x");
        prop_assert_eq!(elements(&page), elements(&plain.html()));
        let plain = plain.markdown();
        prop_assert_eq!(markdown.lines().count(), plain.lines().count(), "{}", markdown);
        for sign in ['<', '>', '`', '|', '[', '#'] {
            prop_assert_eq!(meant(&markdown, sign), meant(&plain, sign), "{}", markdown);
        }
    }
}

#[test]
fn no_name_is_markup_and_none_ends_its_cell() {
    let mut document = ReportDocument::new("dbtime test", "a|b");
    let hostile = "a|b `c` <script> *x* [y](z) @all\n# d";
    document.facts(&[DocumentFact::verdict("verdict", hostile.to_owned())]);
    document.fact("", "on p99", TextRole::Plain);
    document.fact("", "- 1", TextRole::Plain);
    document.heading("Runs");
    let mut table = ReportTable::new(vec![TextColumn::text("Run"), TextColumn::figure("Value")]);
    table.row(vec![hostile.into(), "1".into()]);
    document.table(&table);
    document.paragraph("12. December", TextRole::Plain);
    document.paragraph("- 100 %", TextRole::Dim);
    let text = document.markdown();
    let expected = "a\\|b \\`c\\` &lt;script&gt; \\*x\\* \\[y\\](z) \\@all \\# d";
    assert_eq!(text.matches(expected).count(), 2, "{text}");
    assert!(text.starts_with("## a\\|b\n\n- verdict: **a\\|b"), "{text}");
    assert!(text.contains("**\n  - on p99\n  - \\- 1\n\n### Runs\n\n| Run | Value |\n"), "{text}");
    assert!(text.contains("| --- | --: |\n| a\\|b"), "{text}");
    assert!(text.ends_with("| 1 |\n\n12\\. December\n\n\\- 100 %\n"), "{text}");
}

/// A table with these names, of which one row is shown.
fn limited(names: &[&str], rest: RestOfRows) -> ReportDocument {
    let mut table = ReportTable::new(vec![TextColumn::text("Name"), TextColumn::figure("n")]);
    for name in names {
        table.title(&format!("title of {name}"));
        table.row(vec![(*name).into(), "7".into()]);
        table.detail(&format!("detail of {name}"));
    }
    let mut document = ReportDocument::untitled("dbtime test", "Names");
    document.limited_table(&table, Some(RowLimit::new(1, rest)));
    document
}

#[test]
fn a_limit_leaves_rows_out_of_text_and_markdown_alone() {
    let rest = || RestOfRows::Text("two more".to_owned());
    let document = limited(&["one", "two", "three"], rest());
    let text = document.text(PageStyle::default());
    let lines = ["Name  n", "title of one", "one   7", "       detail of one", "two more"];
    assert_eq!(text, lines.map(|line| format!("  {line}\n")).concat());
    let markdown = document.markdown();
    assert!(markdown.contains("| detail of one |  |\n\ntwo more\n"), "{markdown}");
    assert!(!markdown.contains("title of two"), "{markdown}");
    let page = document.html();
    assert!(page.contains("title of two") && page.contains("detail of three"), "{page}");
    assert!(!page.contains("two more"), "{page}");
    let all = limited(&["one"], rest());
    assert!(!all.text(PageStyle::default()).contains("two more"));
    let sums = limited(&["one", "two"], RestOfRows::Cells(vec!["(more)".into(), "7".into()]));
    assert!(sums.text(PageStyle::default()).ends_with("  (more)  7\n"), "{sums:?}");
    assert!(sums.markdown().ends_with("| (more) | 7 |\n"), "{sums:?}");
}

#[test]
fn the_last_rows_stay_where_others_are_left_out() {
    let shown = |names: &[&str]| {
        let mut table = ReportTable::new(vec![TextColumn::text("Name")]);
        names.iter().for_each(|name| table.row(vec![(*name).into()]));
        let rest = RestOfRows::LastRows(1, "others".to_owned());
        let mut document = ReportDocument::untitled("dbtime test", "Names");
        document.captioned_table("All", &table, Some(RowLimit::new(1, rest)));
        let page = document.html();
        assert!(page.contains("<caption><span>All</span>") && !page.contains("others"), "{page}");
        document.text(PageStyle::default())
    };
    assert_eq!(shown(&["one", "two", "last"]), "  Name\n  one\n  last\n  others\n");
    assert_eq!(shown(&["one", "last"]), "  Name\n  one\n  last\n");
}

#[test]
fn a_row_that_goes_on_is_one_row_and_keeps_its_indentation() {
    let mut table = ReportTable::new(vec![TextColumn::text("Name")]);
    for name in ["one", "two"] {
        table.row(vec![name.into()]);
        table.more(vec!["  └ more".into()]);
    }
    let mut document = ReportDocument::untitled("dbtime test", "Names");
    let rest = RestOfRows::Text("another".to_owned());
    document.limited_table(&table, Some(RowLimit::new(1, rest)));
    let text = document.text(PageStyle::default());
    assert_eq!(text, "  Name\n  one\n    └ more\n  another\n");
    assert_eq!(document.html().matches(">&#160;&#160;&#160;&#160;└ more</th>").count(), 2);
}

#[test]
fn a_cell_may_be_drawn_and_a_bar_is_as_long_as_there_is_room() {
    let mut table = ReportTable::new(vec![TextColumn::text("Name"), TextColumn::text("")]);
    let name = TextCell::from("cpu").drawn("<i>chip</i>".to_owned());
    table.row(vec![name, TextCell::bar(1.0, 48, TextRole::Plain)]);
    let mut document = ReportDocument::untitled("dbtime test", "Parts");
    document.table(&table);
    for (columns, length) in [(100, 48), (72, 20)] {
        let text = document.text(PageStyle::default().within(columns));
        assert_eq!(text, format!("  Name\n  cpu   {}\n", "█".repeat(length)));
    }
    let page = document.html();
    assert!(page.contains("<i>chip</i>") && page.contains("width=\"100.0\""), "{page}");
    assert!(document.markdown().contains("| cpu | ██"), "{}", document.markdown());
}

#[test]
fn a_command_can_be_pasted_from_every_form() {
    let mut document = ReportDocument::untitled("dbtime test", "All");
    document.heading("Repeat it");
    document.command("dbtime run '<b>'", "/tmp");
    let text = document.text(PageStyle::default());
    assert_eq!(text, "\nRepeat it\n  cd /tmp &&\n  dbtime run '<b>'\n");
    let markdown = document.markdown();
    assert!(markdown.ends_with("it\n\n    cd /tmp &&\n    dbtime run '<b>'\n"), "{markdown}");
    let lines = "<pre>cd /tmp &amp;&amp;\ndbtime run &#39;&lt;b&gt;&#39;</pre>";
    assert!(document.html().contains(lines), "{}", document.html());
}

#[test]
fn text_has_open_folds_alone_and_a_title_where_it_is_wanted() {
    let inner = |text: &str| {
        let mut inner = ReportDocument::new("dbtime test", "");
        inner.paragraph(text, TextRole::Plain);
        inner
    };
    let mut document = ReportDocument::new("dbtime test", "All");
    document.fold("First", true, inner("shown"));
    document.fold("Second", false, inner("hidden"));
    assert_eq!(document.text(PageStyle::default()), "All\n\nFirst\n  shown\n");
    let markdown = document.markdown();
    assert_eq!(markdown, "## All\n\n### First\n\nshown\n\n### Second\n\nhidden\n");
    let page = document.html();
    assert!(page.contains("<details open=\"open\"><summary>First") && page.contains("hidden"));
    let untitled = ReportDocument::untitled("dbtime test", "All");
    assert_eq!(untitled.text(PageStyle::default()), "");
    assert!(untitled.html().contains("<h1>All</h1>"));
}

#[test]
fn a_name_that_is_longer_than_its_column_stands_apart_from_its_text() {
    let mut document = ReportDocument::untitled("dbtime test", "Facts");
    document.fact("short", "one", TextRole::Plain);
    document.fact("fourteen_signs", "two", TextRole::Plain);
    document.fact("prepared_transactions", &"word ".repeat(40), TextRole::Plain);
    document.fact(&"n".repeat(70), "beneath", TextRole::Plain);
    let text = document.text(PageStyle::default());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "  short         one");
    assert_eq!(lines[1], "  fourteen_signs two");
    assert!(lines[2].starts_with("  prepared_transactions word word"), "{text}");
    assert!(lines[3].starts_with("                word"), "{text}");
    assert_eq!(lines.last(), Some(&"                beneath"));
    assert!(lines.iter().all(|line| line.len() <= 100), "{text}");
    assert_eq!(text.matches("word").count(), 40, "{text}");
}

#[test]
fn a_document_loses_rows_until_it_fits_on_a_screen() {
    let lines = |rows: usize| {
        let document = ReportDocument::on_screen(|less| {
            let mut document = ReportDocument::new("dbtime test", "Rows");
            let shown = rows.saturating_sub(10 * less);
            (0..shown).for_each(|_| document.paragraph("row", TextRole::Plain));
            document
        });
        document.text(PageStyle::default()).lines().count()
    };
    assert_eq!([lines(10), lines(60), lines(1000)], [11, 41, 921], "the title, and rows");
}

#[test]
fn a_drawing_is_signs_in_text_and_charts_on_a_page() {
    let mut document = ReportDocument::untitled("dbtime test", "Parts");
    let charts = vec![("Chart".to_owned(), "<svg></svg>".to_owned())];
    let lines = DrawnLines::Fixed(vec!["  @@@@ 4".to_owned()]);
    document.drawing(DocumentDrawing { title: "Signs".to_owned(), lines, charts });
    assert_eq!(document.text(PageStyle::default()), "\nSigns\n  @@@@ 4\n");
    assert!(document.markdown().contains("### Signs\n\n      @@@@ 4\n"));
    let page = document.html();
    assert!(page.contains("<h2>Chart</h2>\n<svg>"), "{page}");
    assert!(!page.contains("@@@@"), "{page}");
}
