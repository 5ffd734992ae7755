import * as z from 'zod';

/** Optional powers of an agent that shape a workflow. Ordinary tools are not modelled. */
export const CAPABILITIES = ['delegation', 'web_browsing'] as const;
export const capabilitySchema = z.enum(CAPABILITIES);
export type Capability = z.infer<typeof capabilitySchema>;

export const CAPABILITY_STATUSES = ['unknown', 'available', 'unavailable'] as const;
export const capabilityStatusSchema = z.enum(CAPABILITY_STATUSES);
export type CapabilityStatus = z.infer<typeof capabilityStatusSchema>;
