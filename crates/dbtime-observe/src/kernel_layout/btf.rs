//! The layout of types as a built object of the kernel's programs has it, by its BTF.

use libbpf_rs::btf::types::{Array, Composite, DataSec, Enum, MemberAttr, Ptr, Var};
use libbpf_rs::btf::{Btf, BtfKind, BtfType, HasSize, ReferencesType};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Clone, Copy, Debug)]
pub(super) struct StructLayout {
    pub(super) name: &'static str,
    /// Unit: bytes.
    pub(super) size: usize,
    pub(super) members: &'static [MemberLayout],
}

/// A member of a struct. Unit: bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberLayout {
    pub(super) name: &'static str,
    pub(super) offset: usize,
    pub(super) size: usize,
}

/// Some numbers of an enum.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnumNumbers {
    pub(super) name: &'static str,
    pub(super) numbers: &'static [(&'static str, i128)],
}

/// The types of an object.
pub(super) struct ObjectTypes(Btf<'static>);

impl ObjectTypes {
    /// Those of `bpf/built/<object>.bpf.o`.
    pub(super) fn of(object: &str) -> Self {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf/built");
        let path = built.join(format!("{object}.bpf.o"));
        Self(Btf::from_path(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// What differs from a struct of the object, one sentence each.
    pub(super) fn differences(&self, mirror: &StructLayout) -> Vec<String> {
        let all = self.0.type_by_kind::<Composite<'_>>();
        let Some(found) = all.into_iter().find(|one| has_name(one, mirror.name)) else {
            return vec![format!("there is no struct {}", mirror.name)];
        };
        let mut differences = Vec::new();
        if found.size() != mirror.size {
            differences.push(format!("{} has {} bytes", mirror.name, found.size()));
        }
        let members: Vec<_> = found.iter().map(|member| self.member(&member)).collect();
        let mirrored = mirror.members.iter();
        let mirrored: Vec<_> =
            mirrored.map(|one| (one.name.to_owned(), one.offset, one.size)).collect();
        if members != mirrored {
            differences.push(format!("{} has {members:?}, not {mirrored:?}", mirror.name));
        }
        differences
    }

    /// Name, offset and size. Unit: bytes.
    fn member(
        &self,
        member: &libbpf_rs::btf::types::CompositeMember<'_>,
    ) -> (String, usize, usize) {
        let name = member.name.map(|name| name.to_string_lossy().into_owned());
        let MemberAttr::Normal { offset } = member.attr else { panic!("{name:?} is a bit-field") };
        let of: BtfType<'_> = self.0.type_by_id(member.ty).expect("every member has a type");
        (name.unwrap_or_default(), offset as usize / 8, self.size(of))
    }

    /// Unit: bytes.
    fn size(&self, of: BtfType<'_>) -> usize {
        let of = of.skip_mods_and_typedefs();
        if let Ok(array) = Array::try_from(of) {
            return array.capacity() * self.size(array.contained_type());
        }
        if let Ok(composite) = Composite::try_from(of) {
            return composite.size();
        }
        match of.kind() {
            BtfKind::Int => {
                let int = libbpf_rs::btf::types::Int::try_from(of).expect("it is one");
                usize::from(int.bits) / 8
            }
            BtfKind::Ptr => 8,
            BtfKind::Enum => Enum::try_from(of).expect("it is one").size(),
            other => panic!("no record has a member that is {other:?}"),
        }
    }

    /// What differs from the numbers of the object's enums.
    pub(super) fn other_numbers(&self, mirror: &EnumNumbers) -> Vec<String> {
        let numbers = self.numbers(mirror.name);
        let differs = |(name, number): &&(&str, i128)| numbers.get(*name) != Some(number);
        let difference = |(name, number): &(&str, i128)| {
            format!("{name} of enum {} is {:?}, not {number}", mirror.name, numbers.get(*name))
        };
        mirror.numbers.iter().filter(differs).map(difference).collect()
    }

    /// The numbers of an enum; none where there is no such enum.
    pub(super) fn numbers(&self, name: &str) -> BTreeMap<String, i128> {
        let found = self.0.type_by_kind::<Enum<'_>>().find(|one| has_name(one, name));
        let Some(found) = found else { return BTreeMap::new() };
        let named = |member: libbpf_rs::btf::types::EnumMember<'_>| {
            let name = member.name.expect("enumerators have names");
            (name.to_string_lossy().into_owned(), i128::from(member.value))
        };
        found.iter().map(named).collect()
    }

    /// What the keys and the values of a table are, where it has them: a struct's name, or how many
    /// bytes.
    pub(super) fn table(&self, name: &str) -> Vec<String> {
        let tables = self.0.type_by_kind::<Var<'_>>().find(|one| has_name(one, name));
        let table = tables.unwrap_or_else(|| panic!("there is no table {name}"));
        let table = Composite::try_from(table.referenced_type()).expect("a table is a struct");
        let mut types = Vec::new();
        for side in ["key", "value"] {
            let member = table.iter().find(|one| one.name.is_some_and(|name| name == side));
            let pointer = member.and_then(|one| self.0.type_by_id::<Ptr<'_>>(one.ty));
            types.extend(pointer.map(|pointer| self.described(pointer.referenced_type())));
        }
        types
    }

    fn described(&self, of: BtfType<'_>) -> String {
        let bare = of.skip_mods_and_typedefs();
        match bare.name().filter(|_| bare.is_composite()) {
            Some(name) => name.to_string_lossy().into_owned(),
            None => self.size(bare).to_string(),
        }
    }

    /// The sections of data and their variables, with the bytes of each.
    pub(super) fn data(&self) -> BTreeMap<String, usize> {
        let mut sizes = BTreeMap::new();
        for section in self.0.type_by_kind::<DataSec<'_>>() {
            let name = section.name().map(|name| name.to_string_lossy().into_owned());
            let size = section.iter().map(|variable| variable.size).sum();
            sizes.insert(name.unwrap_or_default(), size);
        }
        sizes
    }
}

fn has_name(of: &BtfType<'_>, name: &str) -> bool {
    of.name().is_some_and(|own| own == name)
}
