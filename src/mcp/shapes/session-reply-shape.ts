import * as z from 'zod';
import { completeReplySchema } from '../../core/prompt/reply-schema.ts';

/** What `start_session` answers, as data. */
export const sessionReplyShape = completeReplySchema.extend({ sessionToken: z.string().min(1) });
