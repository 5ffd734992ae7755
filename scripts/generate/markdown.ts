/** A text as the content of a table cell. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** A number with its thousands set apart. */
export function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A page with its title where generators of sites look for it. */
export function withFrontMatter(page: string): string {
  const [, title = ''] = /^# (.+)$/m.exec(page) ?? [];
  return `---\ntitle: ${JSON.stringify(title.replaceAll('`', ''))}\n---\n\n${page}`;
}
