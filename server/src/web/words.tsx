/** Texts for people: sentences, and what plugins write. */

/** A message of a service as a sentence: with a capital letter and a full stop. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')
}

/** A text of a plugin: parts between backticks are code. */
export function Prose({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code>{part}</code>))}</>
}
