import * as z from 'zod';
import { eventSchema, noScope } from './event-envelope.ts';

/**
 * Marks that a session exists, and nothing more: what it is about is derived by views. We write no field; one that a
 * newer program added is kept, as in every other event.
 */
export const sessionCreatedSchema = eventSchema('session_created', noScope, z.object({}));
