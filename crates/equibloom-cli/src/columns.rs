//! Tables on the terminal: names left-aligned, numbers right-aligned.

use std::fmt;

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// A line below the header, no other borders.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A column: its header, and what stands in it for a row.
pub(crate) type Column<R> = (&'static str, fn(&R) -> String);

/// Writes a table with names in the first column and numbers in the others, and remarks below it.
pub(crate) fn write<R>(
    f: &mut fmt::Formatter<'_>,
    columns: &[Column<R>],
    rows: &[R],
    remarks: &[String],
) -> fmt::Result {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header(columns.iter().map(|(header, _)| header));
    for row in rows {
        table.add_row(columns.iter().map(|(_, cell)| cell(row)));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    writeln!(f, "{}\n", table.trim_fmt())?;
    remarks.iter().try_for_each(|remark| writeln!(f, "- {remark}"))
}
