import type { Fault } from './fault.ts';
import { FIELD_FAULTS } from './field-faults.ts';
import { ORDER_FAULTS } from './order-faults.ts';
import { OTHER_FAULTS } from './other-faults.ts';
import { OUTPUT_FAULTS } from './output-faults.ts';
import { TOKEN_FAULTS } from './token-faults.ts';

/** Every way of going wrong that is played. */
export const FAULTS: readonly Fault[] = [
  ...FIELD_FAULTS,
  ...TOKEN_FAULTS,
  ...OUTPUT_FAULTS,
  ...ORDER_FAULTS,
  ...OTHER_FAULTS,
];
