const isLong = process.env['WORKRAIL_LONG'] === '1';

/** Wrong calls for each of the two readers: 20,000 in the check, a million in the long one. */
export const FAULTY_CALLS = Number(process.env['WORKRAIL_FAULTY_CALLS'] ?? (isLong ? 500_000 : 10_000));

export const TIMEOUT_MS = isLong ? 6 * 3_600_000 : 600_000;
