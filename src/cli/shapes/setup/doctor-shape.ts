import * as z from 'zod';
import { CHECKS, FINDING_KINDS } from '../../../app/clients/doctor/doctor-finding.ts';
import { commandShape } from '../../command-shape.ts';

const doctorData = z.strictObject({
  version: z.string(),
  dataDir: z.string(),
  findings: z.array(
    z.strictObject({
      check: z.enum(CHECKS),
      kind: z.enum(FINDING_KINDS),
      text: z.string(),
      fix: z.string().exactOptional(),
      /** Whether `--fix` mends it. */
      isMendable: z.boolean(),
    }),
  ),
  totals: z.strictObject({ good: z.int(), note: z.int(), fault: z.int(), mended: z.int() }),
});
export type DoctorData = z.infer<typeof doctorData>;

/** What `workrail doctor --json` prints. */
export const doctorShape = commandShape('doctor', doctorData);
