//! `dbtime doctor`: what about this machine, driver and server spoils figures or production.

use crate::cli::DoctorArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::{interrupt, screen, secrets};
use dbtime_lab::doctor::{DoctorRequest, examine};
use dbtime_lab::{RunProgress, Target};
use dbtime_model::Nanos;
use dbtime_model::doctor::{DoctorReport, FindingGrade};
use dbtime_model::secret_text::without_secrets;
use dbtime_observe::doctor::PlannedUse;
use dbtime_report::reports::{DoctorView, doctor_document, fix_script};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &DoctorArgs) -> Result<ProcessExit, CommandFailure> {
    args.document.begin("dbtime doctor", [])?;
    let request = request(args)?;
    let stop = interrupt::install();
    // Two seconds need no line; half a minute of runs does.
    let live = LiveProgress::new(ProgressAudience::of(!args.noise));
    let follow = |progress: RunProgress| live.show(&progress);
    let examined = examine(&request, &follow, &stop);
    drop(live);
    let report = examined?;
    show(args, &report)?;
    let is_bad = report.findings.iter().any(|finding| finding.grade == FindingGrade::Bad);
    Ok(if args.strict && is_bad { ProcessExit::Failed } else { ProcessExit::Fine })
}

/// What the arguments ask for.
fn request(args: &DoctorArgs) -> Result<DoctorRequest, CommandFailure> {
    let target = args.target.as_deref().map(str::parse::<Target>).transpose()?;
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    let planned = PlannedUse {
        connections: args.connections,
        connects_per_s: args.rate,
        data: data_folder(args, target.as_ref())?,
        server_cpus: args.server_cpus.clone(),
        client_cpus: args.client_cpus.clone(),
        is_remote: target.as_ref().is_some_and(Target::is_elsewhere),
        is_over_socket: target.as_ref().is_some_and(Target::is_over_socket),
    };
    Ok(DoctorRequest {
        command: secrets::command_line(&arguments),
        target,
        shown_target: args.target.as_deref().map(|url| without_secrets(url).into_owned()),
        purpose: args.purpose,
        planned,
        run_s: args.time.map(Nanos::as_secs),
        statements: args.statements,
        has_noise: args.noise,
    })
}

/// Where the data are: as given, where the file of the target is, or where private servers have
/// theirs.
fn data_folder(
    args: &DoctorArgs,
    target: Option<&Target>,
) -> Result<Option<PathBuf>, CommandFailure> {
    if let Some(folder) = &args.data {
        return match folder.is_dir() {
            true => Ok(Some(folder.clone())),
            false => Err(CommandFailure::environment(format!(
                "{} is no folder: name the one that the data are in with --data",
                folder.display()
            ))),
        };
    }
    if target.is_none_or(Target::loads_data) {
        return Ok(Some(std::env::temp_dir()).filter(|folder| folder.is_dir()));
    }
    let file = args.target.as_deref().and_then(|target| target.strip_prefix("sqlite:"));
    let file = file.map(|file| Path::new(file.split('?').next().unwrap_or(file)));
    let folder = file.and_then(Path::parent).map(|folder| match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_path_buf(),
    });
    Ok(folder.filter(|folder| folder.is_dir()))
}

fn show(args: &DoctorArgs, report: &DoctorReport) -> Result<(), CommandFailure> {
    if args.fix_script {
        screen::result(&fix_script(report));
        return Ok(());
    }
    let details = args.details || args.document.is_given();
    let document = doctor_document(report, DoctorView { details });
    if args.json {
        let json = serde_json::to_string_pretty(report).map_err(CommandFailure::environment)?;
        screen::json(&(json + "\n"));
        return args.document.write(&document);
    }
    let text = || document.text(screen::style());
    let (shown, written) = args.document.shown(&document, text);
    screen::result(&shown);
    written
}
