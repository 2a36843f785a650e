/** The search of the documentation: over an index that it loads when a search begins. */
import { type Found, openSearch } from '@claimcheck/server/features/site/docs/search-index'

const MOST_SHOWN = 12

function rowOf({ href, title, heading, begins }: Found): HTMLLIElement {
  const link = document.createElement('a')
  link.href = href
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
  let loading: Promise<ReturnType<typeof openSearch>> | undefined

  async function load() {
    const response = await fetch(root.dataset.index!)
    if (!response.ok) throw new Error(`answered ${response.status}`)
    return openSearch(await response.text())
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
      const hits = index.find(query)
      const rows = hits.slice(0, MOST_SHOWN).map(rowOf)
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
