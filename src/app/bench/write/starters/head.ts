export type Naming = { readonly id: string; readonly name: string; readonly description: string };

/** What every workflow begins with, for the author to fill in. */
export function headOf({ id, name, description }: Naming) {
  return {
    id,
    name,
    description,
    version: '0.1.0',
    about: 'What this is for, what comes out of it, and when to take another workflow. People choose by this text.',
    examples: ['A goal as a user would type it'],
    tags: [],
  };
}
