//! What reports print and draw of hand-made records, in the terminal, as HTML and in a browser.

mod answers;
mod browser;
mod compare;
mod counters;
mod doctor;
mod every_view;
mod extremes;
mod fixtures;
mod html;
mod markdown;
mod processes;
mod short;
mod study;
mod terminal;
