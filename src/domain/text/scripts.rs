//! The scripts of letters, to decide whether words can be compared.

/// A set of scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::domain) struct Scripts(u32);

impl Scripts {
    pub(in crate::domain) const NONE: Self = Self(0);
    pub(in crate::domain) const LATIN: Self = Self(1);
    pub(in crate::domain) const GREEK: Self = Self(1 << 1);
    pub(in crate::domain) const CYRILLIC: Self = Self(1 << 2);
    const HEBREW: Self = Self(1 << 3);
    const ARABIC: Self = Self(1 << 4);
    const HAN: Self = Self(1 << 5);
    const KANA: Self = Self(1 << 6);
    const HANGUL: Self = Self(1 << 7);
    const THAI: Self = Self(1 << 8);
    /// The first of the scripts that are distinguished only by their Unicode block.
    const OTHERS: u32 = 9;

    pub(in crate::domain) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(in crate::domain) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether the sets intersect.
    pub(in crate::domain) fn share(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether this is a subset of the other.
    pub(in crate::domain) fn are_among(self, others: Self) -> bool {
        self.0 & !others.0 == 0
    }
}

/// The script of a character; none for digits and symbols.
pub(in crate::domain) fn of(c: char) -> Scripts {
    // Blocks that contain only letters need no table lookup.
    match u32::from(c) {
        0x4E00..=0x9FFF => return Scripts::HAN,
        0x3041..=0x3096 | 0x30A1..=0x30FA => return Scripts::KANA,
        0xAC00..=0xD7A3 => return Scripts::HANGUL,
        _ => {}
    }
    if !c.is_alphabetic() {
        return Scripts::NONE;
    }
    match u32::from(c) {
        0x41..=0x2AF | 0x1D00..=0x1EFF | 0x2C60..=0x2C7F | 0xA720..=0xA7FF | 0xFF21..=0xFF5A => {
            Scripts::LATIN
        }
        0x370..=0x3FF | 0x1F00..=0x1FFF => Scripts::GREEK,
        0x400..=0x52F | 0x1C80..=0x1C8F | 0x2DE0..=0x2DFF | 0xA640..=0xA69F => Scripts::CYRILLIC,
        0x590..=0x5FF | 0xFB1D..=0xFB4F => Scripts::HEBREW,
        0x600..=0x77F | 0x8A0..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFF => Scripts::ARABIC,
        0xE00..=0xE7F => Scripts::THAI,
        code if is_hangul(code) => Scripts::HANGUL,
        code if is_kana(code) => Scripts::KANA,
        code if is_han(code) => Scripts::HAN,
        code => Scripts(1 << (Scripts::OTHERS + (code >> 7) % (32 - Scripts::OTHERS))),
    }
}

/// Han, Hiragana, Katakana, Thai and Hangul are compared by pairs of characters.
pub(in crate::domain) fn compared_by_pairs(c: char) -> bool {
    let code = u32::from(c);
    code >= 0xE00 && ((0xE01..=0xE4E).contains(&code) || is_hangul(code) || is_kana(code) || is_han(code))
}

/// Characters of these scripts that normalisation changes.
pub(in crate::domain) fn is_compatibility(c: char) -> bool {
    matches!(u32::from(c), 0x1100..=0x11FF | 0x2E80..=0x2FDF | 0x3099..=0x309A | 0x309F | 0x30FF | 0x3131..=0x318E
        | 0xE33 | 0xEB3 | 0xF900..=0xFAFF | 0xFF66..=0xFFDC | 0x2_F800..=0x2_FA1F)
}

fn is_hangul(code: u32) -> bool {
    matches!(code, 0x1100..=0x11FF | 0x3131..=0x318E | 0xA960..=0xA97F | 0xAC00..=0xD7FB | 0xFFA0..=0xFFDC)
}

fn is_kana(code: u32) -> bool {
    matches!(code, 0x3041..=0x3096 | 0x3099..=0x309A | 0x309D..=0x309F | 0x30A1..=0x30FA | 0x30FC..=0x30FF
        | 0x31F0..=0x31FF | 0xFF66..=0xFF9F | 0x1_B000..=0x1_B16F)
}

fn is_han(code: u32) -> bool {
    matches!(code, 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF
        | 0x2_0000..=0x3_23AF)
}
