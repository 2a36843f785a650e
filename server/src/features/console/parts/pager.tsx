/** The links between the pages of a list. */

interface PagerProps {
  readonly label: string
  /** The path of the newest page; undefined if there is no such link. */
  readonly newest: string | undefined
  readonly newer?: string
  readonly older: string | undefined
  readonly olderText?: string
}

export function Pager({ label, newest, newer, older, olderText = 'Older' }: PagerProps) {
  return (
    <nav class="pager" aria-label={label}>
      {newest !== undefined && (
        <a id="newest" href={newest}>
          Newest
        </a>
      )}
      {newer !== undefined && (
        <a id="newer" href={newer} rel="prev">
          Newer
        </a>
      )}
      {older !== undefined && (
        <a id="older" href={older} rel="next">
          {olderText}
        </a>
      )}
    </nav>
  )
}
