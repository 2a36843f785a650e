/** The links between the pages of a list. */

interface PagerProps {
  readonly label: string
  /** The path of the newest page; undefined if there is no such link. */
  readonly newest: string | undefined
  readonly newer?: string | undefined
  readonly older: string | undefined
  readonly olderText?: string
}

export function Pager({ label, newest, newer, older, olderText = 'Older' }: PagerProps) {
  return (
    <nav class="pager" aria-label={label}>
      {newest === undefined ? null : (
        <a id="newest" href={newest}>
          Newest
        </a>
      )}
      {newer === undefined ? null : (
        <a id="newer" href={newer} rel="prev">
          Newer
        </a>
      )}
      {older === undefined ? null : (
        <a id="older" href={older} rel="next">
          {olderText}
        </a>
      )}
    </nav>
  )
}
