/** What "data validate" can find, and how bad it is. Problems make the command fail; a hint may be wrong. */
export const FINDING_KINDS = {
  'bad-row': 'problem',
  'repeated-id': 'problem',
  'missing-image': 'problem',
  'unreadable-image': 'problem',
  'broken-image': 'problem',
  'decompression-bomb': 'problem',
  'case-mismatch': 'problem',
  'not-a-number': 'problem',
  'label-out-of-range': 'problem',
  'group-across-splits': 'problem',
  'duplicate-across-splits': 'problem',
  duplicate: 'warning',
  'near-duplicate-across-splits': 'warning',
  'near-duplicate': 'note',
  'constant-labels': 'warning',
  'direction-hint': 'warning',
} as const;

export type FindingKind = keyof typeof FINDING_KINDS;
export type Severity = (typeof FINDING_KINDS)[FindingKind];

/** What each kind means, for the report. */
export const FINDING_TITLES: Readonly<Record<FindingKind, string>> = {
  'bad-row': 'Rows that do not follow the record format',
  'repeated-id': 'Ids that stand for several images',
  'missing-image': 'Images that are not there',
  'unreadable-image': 'Images that cannot be opened',
  'broken-image': 'Images that cannot be decoded',
  'decompression-bomb': 'Images that decode to more pixels than allowed',
  'case-mismatch': 'Names that differ from the file in upper and lower case',
  'not-a-number': 'Labels that are not finite numbers',
  'label-out-of-range': 'Labels out of range',
  'group-across-splits': 'References or groups that lie in several splits',
  'duplicate-across-splits': 'Equal files in several splits',
  duplicate: 'Equal files in one split',
  'near-duplicate-across-splits': 'Look-alikes in several splits',
  'near-duplicate': 'Look-alikes in one split',
  'constant-labels': 'Labels that are all equal',
  'direction-hint': 'Hint: the scale may be reversed',
};

export interface Finding {
  kind: FindingKind;
  message: string;
  /** Ids of the records concerned (line numbers where a row has none); paths of their images where known. */
  ids: string[];
  images: string[];
}

export const severityOf = (kind: FindingKind): Severity => FINDING_KINDS[kind];
