//! Tables on the terminal: names left-aligned, numbers right-aligned.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// A line below the header, no other borders.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table with names in the first column and numbers in the others.
pub(crate) fn table<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
