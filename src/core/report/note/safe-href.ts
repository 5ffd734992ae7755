const SCHEME = /^(?:https?:\/\/|mailto:)/i;
/** What no address holds as it is: white space, controls, quotes and brackets that end an attribute or a link. */
const UNFIT = /[\s\p{Cc}\p{Cf}\p{Bidi_Control}"'`<>\\^{}|]/u;
const LENGTH_MAX = 2_000;

/** An address that a report may link to: the web and mail, nothing that runs, loads or reads. */
export function safeHref(address: string): string | undefined {
  const isFit = address.length <= LENGTH_MAX && SCHEME.test(address) && !UNFIT.test(address);
  return isFit ? address : undefined;
}
