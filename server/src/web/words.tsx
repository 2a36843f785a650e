/** Texts for people: sentences, and texts of plugins. */

/** Turns a message of a service into a sentence, with a capital letter and a full stop. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')
}

/** A plugin's text, in which parts between backticks are code. */
export function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code>{part}</code>))}</>
}
