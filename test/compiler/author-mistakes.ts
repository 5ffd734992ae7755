import { CONDITIONS } from './mistakes/conditions.ts';
import { LOOPS } from './mistakes/loops.ts';
import { MISSING_AND_MISSPELLED } from './mistakes/missing-and-misspelled.ts';
import type { Operator } from './mistakes/mistake.ts';
import { NAMES } from './mistakes/names.ts';
import { REFERENCES } from './mistakes/references.ts';
import { TEXTS_AND_CHOICES } from './mistakes/texts-and-choices.ts';
import { WHOLE_FILES } from './mistakes/whole-files.ts';

/** Every way in which authors go wrong that we know of. */
export const OPERATORS: readonly Operator[] = [
  ...MISSING_AND_MISSPELLED,
  ...REFERENCES,
  ...NAMES,
  ...LOOPS,
  ...CONDITIONS,
  ...TEXTS_AND_CHOICES,
  ...WHOLE_FILES,
];
