// Doubly linked lists of page numbers, threaded through one array: a page is put in and taken out
// in constant time and without allocation. Buckets of hash tables and the order of eviction are
// such lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace r1::runtime {

/// Number of a page in its pool.
using PageId = std::int32_t;

/// No page.
inline constexpr PageId kNoPage = -1;

/// Some lists; a page is in one of them at most. Not thread-safe.
class PageLists {
 public:
  /// Empties all lists: from now on `lists` of them, for pages below `pages`.
  void reset(std::int64_t pages, std::size_t lists) {
    links_.assign(static_cast<std::size_t>(pages), {});
    ends_.assign(lists, {});
  }
  /// Room for pages below `pages`, which are not fewer than before; the lists stay as they are.
  void resize(std::int64_t pages) { links_.resize(static_cast<std::size_t>(pages)); }

  /// First of a list, or kNoPage.
  PageId front(std::size_t list) const { return ends_[list].first; }
  /// Last of a list, or kNoPage.
  PageId back(std::size_t list) const { return ends_[list].last; }
  /// The page behind `page` in its list, or kNoPage.
  PageId next(PageId page) const { return link(page).next; }

  /// Puts a page that is in no list before the others of `list`.
  void push_front(std::size_t list, PageId page) {
    Ends& ends = ends_[list];
    link(page) = {kNoPage, ends.first, list};
    (ends.first == kNoPage ? ends.last : link(ends.first).previous) = page;
    ends.first = page;
  }
  /// Takes a page out of its list.
  void remove(PageId page) {
    const Link gone = link(page);
    Ends& ends = ends_[gone.list];
    (gone.previous == kNoPage ? ends.first : link(gone.previous).next) = gone.next;
    (gone.next == kNoPage ? ends.last : link(gone.next).previous) = gone.previous;
  }

 private:
  struct Link {
    PageId previous = kNoPage;
    PageId next = kNoPage;
    std::size_t list = 0;
  };
  struct Ends {
    PageId first = kNoPage;
    PageId last = kNoPage;
  };

  Link& link(PageId page) { return links_[static_cast<std::size_t>(page)]; }
  const Link& link(PageId page) const { return links_[static_cast<std::size_t>(page)]; }

  std::vector<Link> links_;  ///< by page
  std::vector<Ends> ends_;   ///< by list
};

}  // namespace r1::runtime
