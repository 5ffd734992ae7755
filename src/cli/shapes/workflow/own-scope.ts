import * as z from 'zod';

/** The folders that were looked into because nobody named anything: of the project, or of the user where there is none. */
export const ownScope = z.strictObject({ kind: z.enum(['project', 'user']), folders: z.array(z.string()).readonly() });
