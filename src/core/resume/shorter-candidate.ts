import { clip } from '../run/requirements/judge-artifact.ts';
import type { ResumeCandidate } from './candidate.ts';

/** A candidate whose texts take no more than they may; what it is called by is kept. */
export function shorterCandidate(candidate: ResumeCandidate, bytesMax: number): ResumeCandidate {
  const { title, goal, stepTitle } = candidate;
  return {
    ...candidate,
    title: clip(title, bytesMax),
    ...(goal === undefined ? {} : { goal: clip(goal, bytesMax) }),
    ...(stepTitle === undefined ? {} : { stepTitle: clip(stepTitle, bytesMax) }),
  };
}
