use super::*;

#[test]
fn the_arguments_of_all_commands_agree() {
    Arguments::command().debug_assert();
}
