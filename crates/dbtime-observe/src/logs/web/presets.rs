//! Formats that have names, and finding the one of a file.

use super::format::AccessFormat;
use super::time::DayCache;
use super::w3c::{CurrentForm, FIELDS, separator, w3c};
use crate::logs::lines::{first_lines, mostly_right};

/// How many lines are looked at.
const LOOKED_AT: usize = 100;

/// Names and format strings, those with most fields first.
const PRESETS: [(&str, &str); 10] = [
    (
        "alb",
        "$type $time_iso8601 $elb $alb_client $target $alb_time $alb_target_time $alb_time \
         $status $target_status $request_length $bytes_sent \"$request\" \"$http_user_agent\" \
         $alb_rest",
    ),
    (
        "nginx_ingress",
        "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
         \"$http_referer\" \"$http_user_agent\" $request_length $request_time \
         [$proxy_upstream_name] [$alternative] $upstream_addr $upstream_response_length \
         $upstream_response_time $upstream_status $req_id",
    ),
    (
        "traefik",
        "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %k \"%{router}n\" \
         \"%{server}n\" %{ms}Tms",
    ),
    (
        "nginx_timed",
        "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
         \"$http_referer\" \"$http_user_agent\" $request_time $upstream_response_time",
    ),
    // Whole numbers there are Apache's, in a unit that they do not show.
    (
        "nginx_request_time",
        "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
         \"$http_referer\" \"$http_user_agent\" $request_time",
    ),
    ("vhost_combined", "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\""),
    ("rscommon", "%h %l %u %t \"%r\" %>s %b %{pid}P %X %D"),
    ("combined", "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\""),
    (
        "nginx",
        "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \
         \"$http_referer\" \"$http_user_agent\"",
    ),
    ("common", "%h %l %u %t \"%r\" %>s %b"),
];

/// The format string of a preset.
pub(super) fn by_name(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
}

/// The names of presets, the plainest first.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().rev().map(|(name, _)| *name)
}

/// The preset that the first lines of a file fit.
pub(super) fn guess(head: &[u8]) -> Option<AccessFormat> {
    let own = first_lines(head, LOOKED_AT)
        .find_map(|line| head[line].strip_prefix(FIELDS.as_bytes()))
        .and_then(|fields| w3c(str::from_utf8(fields).ok()?, separator(head, LOOKED_AT)).ok());
    let presets = PRESETS.iter().filter_map(|(name, _)| AccessFormat::parse(name).ok());
    own.into_iter().chain(presets).find(|format| fits(format, head))
}

/// Whether at least nine of ten of the first lines have the form of a format.
fn fits(format: &AccessFormat, head: &[u8]) -> bool {
    let (mut days, mut form) = (DayCache::default(), CurrentForm::below(format, &[]));
    let (mut right, mut all) = (0, 0);
    for line in first_lines(head, LOOKED_AT) {
        if form.is_comment(&head[line.clone()]) {
            form.follow(&head[line]);
            continue;
        }
        all += 1;
        right += usize::from(form.read(head, line, &mut days).is_ok());
    }
    mostly_right(right, all)
}
