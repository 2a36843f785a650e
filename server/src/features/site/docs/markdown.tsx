/** Renders Markdown as parts of a page. Markup in it is text, because Preact escapes it, and characters that turn text around are left out. */
import { lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren, VNode } from 'preact'
import { Code } from '../../../web/parts/values.tsx'

/**
 * The languages of examples, by the name that a block of code has in Markdown. Blocks of these that follow one another say the same, and the
 * reader chooses. The style sheet has a rule for each.
 */
export const LANGUAGES = { sh: 'curl', ts: 'TypeScript', python: 'Python' } as const

export type Language = keyof typeof LANGUAGES

export interface Heading {
  readonly level: number
  readonly text: string
  /** The anchor in the form of GitHub, so that links work in both places. */
  readonly id: string
}

/** The content under one heading, as plain text. */
export interface Section {
  readonly heading: Heading
  readonly text: string
  /** The text of the section without its code and its tables. */
  readonly prose: string
}

export interface Rendered {
  readonly title: string
  readonly heading: VNode
  /** The content below the heading. */
  readonly body: VNode
  readonly sections: readonly Section[]
  /** The languages in which the page has examples to choose from, in their order. */
  readonly languages: readonly Language[]
}

/** Returns the address that a link of the page has here; undefined where it leads nowhere, and its text stays. */
export type LinkOf = (href: string) => string | undefined

/**
 * Renders a page.
 * @throws Error for a page that does not begin with its title
 */
export function renderMarkdown(source: string, linkOf: LinkOf): Rendered {
  const tokens = lexer(source.replaceAll(BIDI, ''))
  const { sections, ids } = sectionsOf(tokens)
  const [first] = sections
  if (first?.heading.level !== 1) throw new Error(`a page begins with its title, not with ${source.slice(0, 40)}`)
  const [title, ...blocks] = grouped(tokens)
  const writer = { linkOf, ids, labels: labelsOf() }
  return {
    title: first.heading.text,
    heading: heading(title as Tokens.Heading, writer),
    body: <>{blocks.map((block) => (isExamples(block) ? examples(block, writer) : oneBlock(block, writer)))}</>,
    sections,
    languages: languagesOf(blocks.filter(isExamples).flat()),
  }
}

interface Writer {
  readonly linkOf: LinkOf
  readonly ids: ReadonlyMap<Token, string>
  readonly labels: { next(kind: string): string; enter(heading: string): void }
}

/** Code in several languages that says the same: the reader chooses one of them. */
type Examples = readonly Tokens.Code[]

function languagesOf(examples: readonly Tokens.Code[]): Language[] {
  const used = new Set(examples.map(({ lang }) => lang))
  return (Object.keys(LANGUAGES) as Language[]).filter((language) => used.has(language))
}

function isExamples(block: Token | Examples): block is Examples {
  return Array.isArray(block)
}

function grouped(tokens: readonly Token[]): (Token | Examples)[] {
  const visible = tokens.filter((token) => !isSilent(token))
  return visible.flatMap((token, index): (Token | Examples)[] => {
    if (!isExample(token)) return [token]
    if (isExample(visible[index - 1])) return []
    const end = visible.findIndex((other, at) => at > index && !isExample(other))
    const examples = visible.slice(index, end < 0 ? undefined : end) as Tokens.Code[]
    return examples.length > 1 ? [examples] : [token]
  })
}

/** Tells whether a token shows nothing: it is a space or a comment. */
function isSilent(token: Token): boolean {
  return token.type === 'space' || (token.type === 'html' && /^\s*<!--[\s\S]*-->\s*$/.test(token.text))
}

function isExample(token: Token | undefined): boolean {
  return token?.type === 'code' && Object.hasOwn(LANGUAGES, (token as Tokens.Code).lang ?? '')
}

function examples(blocks: Examples, { labels }: Writer): VNode {
  return (
    <>
      {blocks.map(({ lang, text }) => (
        <figure class="example" data-language={lang}>
          <figcaption>{LANGUAGES[lang as Language]}</figcaption>
          <Code text={text} label={labels.next(LANGUAGES[lang as Language])} />
        </figure>
      ))}
    </>
  )
}

function oneBlock(token: Token, writer: Writer): ComponentChildren {
  const write = BLOCKS[token.type]
  return write ? write(token as never, writer) : inline([token], writer)
}

const BLOCKS: Readonly<Record<string, (token: never, writer: Writer) => ComponentChildren>> = {
  space: () => null,
  hr: () => <hr />,
  heading,
  paragraph: ({ tokens }: Tokens.Paragraph, writer) => <p>{inline(tokens, writer)}</p>,
  text: ({ tokens, text }: Tokens.Text, writer) => (tokens ? inline(tokens, writer) : text),
  code: ({ text }: Tokens.Code, { labels }) => <Code text={text} label={labels.next('example')} />,
  blockquote: ({ tokens }: Tokens.Blockquote, writer) => (
    <blockquote>{tokens.map((one) => oneBlock(one, writer))}</blockquote>
  ),
  list: ({ ordered, items }: Tokens.List, writer) => {
    const rows = items.map(({ tokens }) => <li>{tokens.map((one) => oneBlock(one, writer))}</li>)
    return ordered ? <ol>{rows}</ol> : <ul>{rows}</ul>
  },
  table,
}

function heading(token: Tokens.Heading, writer: Writer): VNode {
  const { depth, tokens } = token
  const Tag = `h${depth}` as 'h1'
  const id = writer.ids.get(token)!
  writer.labels.enter(plain(tokens))
  if (depth === 1) return <Tag id={id}>{inline(tokens, writer)}</Tag>
  return (
    <Tag id={id}>
      {inline(tokens, writer)}{' '}
      <a class="anchor" href={`#${id}`} aria-label={`Link to ${plain(tokens)}`}>
        #
      </a>
    </Tag>
  )
}

function table({ header, rows }: Tokens.Table, writer: Writer): VNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it must scroll by keyboard too
    <section class="table" aria-label={writer.labels.next('table')} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map(({ text, tokens }) => (text === '' ? <td /> : <th scope="col">{inline(tokens, writer)}</th>))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map(({ tokens }) => (
                <td>{inline(tokens, writer)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function inline(tokens: readonly Token[], writer: Writer): ComponentChildren {
  return tokens.map((token) => INLINE[token.type]?.(token as never, writer) ?? plain([token]))
}

const INLINE: Readonly<Record<string, (token: never, writer: Writer) => ComponentChildren>> = {
  text: ({ tokens, text }: Tokens.Text, writer) => (tokens ? inline(tokens, writer) : text),
  codespan: ({ text }: Tokens.Codespan) => <code>{text}</code>,
  strong: ({ tokens }: Tokens.Strong, writer) => <strong>{inline(tokens, writer)}</strong>,
  em: ({ tokens }: Tokens.Em, writer) => <em>{inline(tokens, writer)}</em>,
  br: () => <br />,
  // Pictures of the repository are missing on a server.
  image: () => '',
  link: ({ href, tokens }: Tokens.Link, writer) => {
    const target = writer.linkOf(href)
    const text = inline(tokens, writer)
    return target === undefined ? text : <a href={target}>{text}</a>
  },
}

/** Returns the text of tokens without their markup. */
function plain(tokens: readonly Token[]): string {
  return tokens.map(textOf).join('')
}

function textOf(token: Token): string {
  if (token.type === 'image' || isSilent(token)) return ''
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((cells) => cells.map((cell) => plain(cell.tokens)).join(' ')).join(' ')
  }
  if (token.type === 'list') return (token as Tokens.List).items.map(({ tokens }) => plain(tokens)).join(' ')
  const { tokens, text, raw } = token as { tokens?: Token[]; text?: string; raw: string }
  return tokens ? plain(tokens) : (text ?? raw)
}

function sectionsOf(tokens: readonly Token[]): { sections: Section[]; ids: ReadonlyMap<Token, string> } {
  const sections: { heading: Heading; text: string; prose: string }[] = []
  const ids = new Map<Token, string>()
  const seen = new Map<string, number>()
  for (const token of tokens) {
    if (token.type !== 'heading') {
      const section = sections.at(-1)
      if (!section) continue
      section.text += ` ${textOf(token)}`
      if (token.type !== 'code' && token.type !== 'table') section.prose += ` ${textOf(token)}`
      continue
    }
    const { depth, text, tokens: parts } = token as Tokens.Heading
    const id = anchorOf(text, seen)
    ids.set(token, id)
    sections.push({ heading: { level: depth, text: plain(parts), id }, text: '', prose: '' })
  }
  return { sections, ids }
}

function anchorOf(title: string, seen: Map<string, number>): string {
  const anchor = title
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
  const count = seen.get(anchor) ?? 0
  seen.set(anchor, count + 1)
  return count === 0 ? anchor : `${anchor}-${count}`
}

/** Makes a function that names parts for screen readers, with each name once in a page: `The claim: table`, `The claim: table 2`. */
function labelsOf(): Writer['labels'] {
  const seen = new Map<string, number>()
  let section = ''
  return {
    enter: (heading) => {
      section = heading
    },
    next: (kind) => {
      const label = `${section}: ${kind}`
      const count = (seen.get(label) ?? 0) + 1
      seen.set(label, count)
      return count === 1 ? label : `${label} ${count}`
    },
  }
}

/** Characters by which a text could be shown in another order than it has. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
