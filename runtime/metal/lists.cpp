#include "runtime/metal/lists.hpp"

#include <cstring>

namespace tessera
{

namespace
{

struct Lists {
	std::vector<TtZero> zeros;
	std::vector<TtMove> moves;
	Words pushes;
	uint32_t push_count = 0;
	PushRow last = {}; /* what TT_PUSH_SAME stands for */
};

bool is_same(const PushRow &x, const PushRow &y)
{
	return x.count == y.count && x.block == y.block &&
	       std::memcmp(&x.rows, &y.rows, sizeof x.rows) == 0;
}

void add_push(Lists &l, const PushRow &row, unsigned to, uint32_t node)
{
	const uint32_t block = row.block ? uint32_t{ TT_PUSH_BLOCK } : 0;
	const uint32_t target = node >> 4 | to << TT_PUSH_CORE | row.count << TT_PUSH_COUNT | block;
	if (l.push_count++ && is_same(l.last, row)) {
		l.pushes.push_back(target | TT_PUSH_SAME);
		return;
	}
	TtPush push = row.rows;
	push.target = target;
	const uint32_t *words = reinterpret_cast<const uint32_t *>(&push);
	l.pushes.insert(l.pushes.end(), words,
			words + (row.block ? TT_PUSH_BLOCK_WORDS : TT_PUSH_WORDS));
	l.last = row;
}

template <typename T> void append(Words &to, const std::vector<T> &from)
{
	const uint32_t *words = reinterpret_cast<const uint32_t *>(from.data());
	to.insert(to.end(), words, words + from.size() * sizeof(T) / sizeof(uint32_t));
}

} // namespace

std::vector<Words> list_words(const ProgramSpec &program, unsigned cores,
			      const std::function<uint32_t(unsigned)> &node)
{
	std::vector<Lists> lists(cores);
	for (const auto &row : program.rows) {
		const Cores on = std::visit([](const auto &r) { return r.cores; }, row);
		for (unsigned core = on.first, i = 0; core <= on.last; core += on.every, i++) {
			Lists &l = lists[core];
			if (const auto *zero = std::get_if<ZeroRow>(&row))
				l.zeros.push_back(zero->zero);
			if (const auto *move = std::get_if<MoveRow>(&row)) {
				l.moves.push_back(move->move);
				l.moves.back().at += i * move->along;
			}
			if (const auto *push = std::get_if<PushRow>(&row)) {
				const auto to = static_cast<unsigned>(
					push->to + static_cast<int>(i) * push->along);
				for (unsigned k = 0; k <= push->more; k++)
					add_push(l, *push, to + k, node(to + k));
			}
		}
	}
	std::vector<Words> words(cores);
	for (unsigned core = 0; core < cores; core++) {
		const Lists &l = lists[core];
		words[core] = { static_cast<uint32_t>(l.zeros.size()),
				static_cast<uint32_t>(l.moves.size()), l.push_count };
		append(words[core], l.zeros);
		append(words[core], l.moves);
		append(words[core], l.pushes);
	}
	return words;
}

} // namespace tessera
