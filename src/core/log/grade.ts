import * as z from 'zod';

/**
 * How well something is known, weakest first: the agent wrote it, the agent filled in a contract, WorkRail ran it, an
 * identity outside the agent's reach ran it.
 */
export const GRADES = ['asserted', 'reported', 'observed', 'verified'] as const;
export type Grade = (typeof GRADES)[number];
export const gradeSchema = z.enum(GRADES);

export function isAtLeast(grade: Grade | undefined, minimum: Grade): boolean {
  return grade !== undefined && GRADES.indexOf(grade) >= GRADES.indexOf(minimum);
}

/** The strongest of several grades. */
export function strongestGrade(grades: readonly (Grade | undefined)[]): Grade | undefined {
  return GRADES.findLast((grade) => grades.includes(grade));
}
