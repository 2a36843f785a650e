/** Writes Markdown. A text that is given as one line stays one line, whatever characters it has. */

export function code(text: string): string {
  return `\`${oneLine(text)}\``
}

export function bulleted(lines: readonly string[]): string {
  return lines.map((line) => `- ${oneLine(line)}`).join('\n')
}

export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellOf).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export function listed(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`
}

/** Joins the parts of a Markdown page with an empty line between them. */
export function page(parts: readonly (string | undefined)[]): string {
  return `${parts.filter((part) => part !== undefined && part !== '').join('\n\n')}\n`
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function cellOf(text: string): string {
  return oneLine(text).replaceAll('|', '\\|')
}
