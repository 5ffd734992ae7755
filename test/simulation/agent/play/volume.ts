import { isLong } from '../../../volume.ts';

/** Wrong calls for each of the two readers: 2,500 in all in the check, 200,000 in the long one. */
export const FAULTY_CALLS = Number(process.env['WORKRAIL_FAULTY_CALLS'] ?? (isLong ? 100_000 : 1_250));

export const TIMEOUT_MS = isLong ? 6 * 3_600_000 : 600_000;
