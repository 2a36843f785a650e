/** Reads what tests hold against the code from a page of documentation: its code blocks, code spans, links and headings. */

export interface Block {
  readonly language: string
  readonly text: string
  /** The line of its first line of text, counted from 1. */
  readonly line: number
  /** What the HTML comment directly above it says; empty where there is none. */
  readonly note: string
}

export interface Page {
  readonly blocks: readonly Block[]
  /** Code spans outside of blocks, without their backticks. */
  readonly spans: readonly string[]
  /** The targets of links and images. */
  readonly links: readonly string[]
  /** The ids that headings have at GitHub, in order. */
  readonly anchors: readonly string[]
  /** The text outside of code blocks. */
  readonly prose: string
}

const FENCE = /^ {0,3}(```+)\s*(\w*)\s*$/

export function readPage(markdown: string): Page {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  const prose: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const [, fence, language] = FENCE.exec(lines[at]!) ?? []
    if (fence === undefined) {
      prose.push(lines[at]!)
      continue
    }
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence)
    if (end < 0) throw new Error(`the code block of line ${at + 1} has no end`)
    blocks.push({
      language: language!,
      text: lines.slice(at + 1, end).join('\n'),
      line: at + 2,
      note: /^<!-- *(.*?) *-->$/.exec(lines[at - 1] ?? '')?.[1] ?? '',
    })
    at = end
  }
  const text = prose.join('\n')
  const withoutCode = text.replace(/`[^`]*`/g, '')
  return {
    blocks,
    spans: [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span!.replaceAll(/\s+/g, ' ')),
    links: [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!),
    anchors: anchorsOf(prose),
    prose: text,
  }
}

/** As GitHub makes them: in lower case, without punctuation, with `-` for spaces, and numbered where they repeat. */
function anchorsOf(lines: readonly string[]): string[] {
  const seen = new Map<string, number>()
  return lines.flatMap((line) => {
    const [, title] = /^#{1,6} +(.*?)\s*$/.exec(line) ?? []
    if (title === undefined) return []
    const anchor = title
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}
