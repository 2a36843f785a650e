/** The search of the documentation: over an index that it loads when a search begins. */
import type { SearchIndex } from '@claimcheck/server/features/site/docs/search-index'

const MOST_SHOWN = 12

interface Hit {
  readonly section: number
  readonly score: number
}

/** Scores by section, of the sections that have a word with this beginning: more for the whole word, and for one in a heading or a title. */
function scoreSections({ pages, sections, words }: SearchIndex, part: string): ReadonlyMap<number, number> {
  const scores = new Map<number, number>()
  for (const [word, numbers] of Object.entries(words)) {
    if (!word.startsWith(part)) continue
    const weight = word === part ? 3 : 1
    for (const number of numbers) scores.set(number, Math.max(weight, scores.get(number) ?? 0))
  }
  const isNamed = (text: string) => text.toLowerCase().includes(part)
  for (const [number, [page, heading]] of sections.entries()) {
    const score = scores.get(number)
    if (isNamed(heading)) scores.set(number, (score ?? 0) + 6)
    else if (score !== undefined && isNamed(pages[page]![1])) scores.set(number, score + 2)
  }
  return scores
}

/** Sections that have every word of the query, each at least by its beginning. The best come first. */
function find(index: SearchIndex, query: string): Hit[] {
  const wanted = query.toLowerCase().match(/[\p{L}\p{N}._-]+/gu) ?? []
  if (wanted.length === 0) return []
  const scores = wanted.map((part) => scoreSections(index, part))
  const [first, ...others] = scores
  return [...first!.keys()]
    .filter((section) => others.every((one) => one.has(section)))
    .map((section) => ({ section, score: scores.reduce((sum, one) => sum + one.get(section)!, 0) }))
    .toSorted((one, other) => other.score - one.score || one.section - other.section)
}

function rowOf({ pages, sections }: SearchIndex, { section }: Hit): HTMLLIElement {
  const [page, heading, id, begins] = sections[section]!
  const [href, title] = pages[page]!
  const link = document.createElement('a')
  link.href = id === '' ? href : `${href}#${id}`
  const name = document.createElement('strong')
  name.textContent = heading === title ? title : `${title}: ${heading}`
  const text = document.createElement('small')
  text.textContent = begins
  link.append(name, text)
  const row = document.createElement('li')
  row.append(link)
  return row
}

function prepare(root: HTMLElement): void {
  const field = root.querySelector('input')!
  const status = root.querySelector('[role=status]')!
  const list = root.querySelector('ul')!
  let loading: Promise<SearchIndex> | undefined

  async function load(): Promise<SearchIndex> {
    const response = await fetch(root.dataset.index!)
    if (!response.ok) throw new Error(`answered ${response.status}`)
    return response.json()
  }

  function show(rows: readonly HTMLLIElement[], words: string): void {
    list.replaceChildren(...rows)
    list.hidden = rows.length === 0
    status.textContent = words
    status.classList.toggle('spoken', rows.length > 0 || words === '')
  }

  async function search(): Promise<void> {
    const query = field.value
    if (query.trim() === '') return show([], '')
    loading ??= load()
    try {
      const index = await loading
      if (field.value !== query) return
      const hits = find(index, query)
      const rows = hits.slice(0, MOST_SHOWN).map((hit) => rowOf(index, hit))
      show(rows, hits.length === 0 ? `Nothing has “${query.trim()}”.` : `${hits.length} found`)
    } catch {
      loading = undefined
      show([], 'The search does not answer. Type again to try once more.')
    }
  }

  field.addEventListener('input', search)
  root.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      field.value = ''
      show([], '')
      field.focus()
    }
    if (event.key === 'Enter' && document.activeElement === field) list.querySelector('a')?.click()
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    const stops = [field, ...list.querySelectorAll('a')]
    const at = stops.indexOf(document.activeElement as HTMLAnchorElement)
    const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)]
    if (at < 0 || !next) return
    event.preventDefault()
    next.focus()
  })
  // A place within the page that is open: the list would hide it.
  list.addEventListener('click', () => {
    list.hidden = true
  })
  document.addEventListener('keydown', (event) => {
    const isTyping = (event.target as Element).closest('input, textarea, select, [contenteditable]')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    field.focus()
  })
  root.hidden = false
}

for (const root of document.querySelectorAll<HTMLElement>('.docs-search')) prepare(root)
