// Boxes of detectors: package detection. A slot has its corners in boxes, and a score for each class in
// scores. NaN is the score of a class that is no candidate, and the first corner of a slot with an element
// that is infinite or NaN.

// The forms of predictions, in the order of detectForms.
#define FORM_YOLOX 0
#define FORM_FCOS 1
#define FORM_RETINANET 2
#define FORM_SSD 3
#define FORM_CORNERS 4
// LONGEST is the logarithm of 1000/16.
#define LONGEST 0x1.08a691a12e2a9p+2
#define NO_SCORE FLOAT(0x7fc00000u)
#define FARTHEST 0x1p60

// border is a corner rounded to float32 between 0 and a limit, and within FARTHEST.
FUNCTION float border(double x, double limit) {
	float c = (float)lesser(greater(x, 0.0), limit);
	return c > (float)FARTHEST ? (float)FARTHEST : c;
}

FUNCTION float limited(double x) {
	float c = (float)x;
	return c > (float)FARTHEST ? (float)FARTHEST : c < (float)-FARTHEST ? (float)-FARTHEST : c;
}

// corners_of sets the corners of a slot, with NaN in place of the first if one of them is NaN.
FUNCTION void corners_of(int form, IN float *v, int step, IN float *anchor, double height, double width,
	OUT float *corners) {
	double a = (double)v[0], b = (double)v[step], c = (double)v[2 * step], d = (double)v[3 * step];
	double x1 = a, y1 = b, x2 = c, y2 = d;
	if (form != FORM_CORNERS) {
		double w = (double)anchor[2] - (double)anchor[0], h = (double)anchor[3] - (double)anchor[1];
		double x = (double)anchor[0] + w / 2.0, y = (double)anchor[1] + h / 2.0;
		if (form == FORM_FCOS) {
			x1 = x - a * w;
			y1 = y - b * h;
			x2 = x + c * w;
			y2 = y + d * h;
		} else {
			if (form == FORM_YOLOX) {
				x = (a + (double)anchor[0] / w) * w;
				y = (b + (double)anchor[1] / w) * w;
				h = exp_of(d) * w / 2.0;
				w = exp_of(c) * w / 2.0;
			} else {
				if (form == FORM_SSD) {
					a = a / 10.0;
					b = b / 10.0;
					c = c / 5.0;
					d = d / 5.0;
				}
				x = x + a * w;
				y = y + b * h;
				w = w * exp_of(lesser(c, LONGEST)) / 2.0;
				h = h * exp_of(lesser(d, LONGEST)) / 2.0;
			}
			x1 = x - w;
			y1 = y - h;
			x2 = x + w;
			y2 = y + h;
		}
	}
	bool open = form == FORM_CORNERS || form == FORM_YOLOX;
	corners[0] = x1 != x1 || y1 != y1 || x2 != x2 || y2 != y2 ? NO_SCORE : open ? limited(x1) : border(x1, width);
	corners[1] = open ? limited(y1) : border(y1, height);
	corners[2] = open ? limited(x2) : border(x2, width);
	corners[3] = open ? limited(y2) : border(y2, height);
}

// detect_scores has a thread for each of n slots. bad is 1 for a slot with an element that is infinite or NaN.
KERNEL detect_scores(int first, IN float *x, IN float *anchors, OUT float *boxes, OUT float *scores,
	OUT int *bad, int n, int rows, int fields, int form, double height, double width) {
	EACH(i, unit, n);
	IN float *v = x + unit * n * rows + i;
	int classes = rows - fields;
	OUT float *box = boxes + (unit * n + i) * 4, *s = scores + (unit * n + i) * classes;
	corners_of(form, v, n, anchors + 4 * i, height, width, box);
	int wrong = 0;
	for (int r = 0; r < rows; r++)
		wrong |= (BITS(v[r * n]) & 0x7f800000u) == 0x7f800000u;
	bad[unit * n + i] = wrong;
	double top = (double)v[(fields - 1) * n], total = 0.0;
	int best = 0;
	if (form == FORM_SSD) {
		for (int k = 0; k < classes; k++)
			top = greater(top, (double)v[(fields + k) * n]);
		for (int k = -1; k < classes; k++)
			total += exp_of((double)v[(fields + k) * n] - top);
	} else if (form == FORM_YOLOX || form == FORM_FCOS) {
		top = sigmoid(top);
		for (int k = 0; k < classes; k++)
			if (v[(fields + k) * n] > v[(fields + best) * n])
				best = k;
	}
	for (int k = 0; k < classes; k++) {
		float logit = v[(fields + k) * n];
		float score = logit;
		if (form == FORM_YOLOX)
			score = k == best ? (float)(top * sigmoid((double)logit)) : NO_SCORE;
		else if (form == FORM_FCOS)
			score = (float)SQRT64(top * sigmoid((double)logit));
		else if (form == FORM_RETINANET)
			score = (float)sigmoid((double)logit);
		else if (form == FORM_SSD)
			score = (float)(exp_of((double)logit - top) / total);
		s[k] = box[0] != box[0] ? NO_SCORE : score;
	}
}

// total_of adds a number of each thread; before is the sum of the threads before this one. Calls use the halves
// of sums in turn, so that one barrier is enough.
FUNCTION int total_of(local int *sums, int *turn, int mine, int *before) {
	sums += (*turn)++ % 2 * SIZE;
	sums[THREAD()] = mine;
	BARRIER();
	int sum = 0;
	*before = 0;
	for (int t = 0; t < SIZE; t++) {
		*before = t == THREAD() ? sum : *before;
		sum += sums[t];
	}
	return sum;
}

// ordered is a number that grows with a score.
FUNCTION uint ordered(float score) {
	uint b = BITS(score + 0.0f);
	return b >> 31 ? ~b : b | 0x80000000u;
}

// detect_candidates has a group of threads for each group of candidates: the classes of slots from
// starts[g] to starts[g+1], or if by_class the class g of all slots. It lists the best most of them:
// slot*classes + class. A list has room for most candidates, and counts has its length.
KERNEL detect_candidates(int first, IN float *scores, IN float *limits, IN int *starts, OUT int *lists,
	OUT int *counts, int groups, int slots, int classes, int by_class, int most) {
	local int sums[2 * SIZE];
	int g = GROUP(), before, turn = 0;
	long unit = (long)first + GROUP_Y();
	int from = by_class ? g : starts[g] * classes, step = by_class ? classes : 1;
	int length = by_class ? slots : (starts[g + 1] - starts[g]) * classes;
	IN float *s = scores + unit * slots * classes + from;
	OUT int *list = lists + (unit * groups + g) * most;
	float least = limits[2 * unit];
	int share = (length + SIZE - 1) / SIZE;
	int low = THREAD() * share, high = low + share > length ? length : low + share;
	int mine = 0;
	for (int e = low; e < high; e++)
		mine += s[e * step] > least;
	int total = total_of(sums, &turn, mine, &before);
	uint limit = 0u; // candidates have this order at least
	int ties = length;
	if (total > most) {
		for (int bit = 31; bit >= 0; bit--) {
			uint higher = limit | 1u << bit;
			mine = 0;
			for (int e = low; e < high; e++)
				mine += s[e * step] > least && ordered(s[e * step]) >= higher;
			if (total_of(sums, &turn, mine, &before) >= most)
				limit = higher;
		}
		mine = 0;
		for (int e = low; e < high; e++)
			mine += s[e * step] > least && ordered(s[e * step]) > limit;
		ties = most - total_of(sums, &turn, mine, &before);
		total = most;
	}
	mine = 0;
	for (int e = low; e < high; e++)
		mine += s[e * step] > least && ordered(s[e * step]) == limit;
	total_of(sums, &turn, mine, &before);
	int tie = before;
	mine = 0;
	for (int e = low; e < high; e++) {
		bool equal = ordered(s[e * step]) == limit;
		if (s[e * step] > least && ordered(s[e * step]) >= limit && (!equal || tie++ < ties))
			mine++;
	}
	total_of(sums, &turn, mine, &tie);
	for (int e = low; e < high; e++) {
		bool equal = ordered(s[e * step]) == limit;
		if (s[e * step] > least && ordered(s[e * step]) >= limit && (!equal || before++ < ties))
			list[tie++] = from + e * step;
	}
	if (THREAD() == 0)
		counts[unit * groups + g] = total;
}

FUNCTION float area_of(IN float *b) { return (b[2] - b[0]) * (b[3] - b[1]); }

FUNCTION bool solid(IN float *b) { return b[2] > b[0] && b[3] > b[1] && area_of(b) > 0.0f; }

// covered reports whether box b overlaps a better box a by more than limit.
FUNCTION bool covered(IN float *a, IN float *b, float limit) {
	if (limit < 0.0f)
		return true;
	float w = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]);
	float h = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]);
	if (!(w > 0.0f) || !(h > 0.0f) || !solid(a) || !solid(b))
		return false;
	float common = w * h;
	float all = area_of(a) + area_of(b) - common;
	return all > 0.0f && DIV(common, all) > limit;
}

// detect_boxes has a group of threads for each picture. In each turn the best candidate that is left becomes
// a box, and those that it covers are removed. A thread has every SIZEth candidate of each list.
KERNEL detect_boxes(int first, IN float *boxes, IN float *scores, IN float *limits, IN int *bad,
	OUT int *lists, IN int *counts, OUT float *y, int groups, int slots, int classes, int room,
	int most) {
	local float best_scores[2 * SIZE];
	local int best[2 * SIZE];
	local int sums[2 * SIZE];
	long unit = (long)first + GROUP_Y();
	IN float *s = scores + unit * slots * classes;
	OUT float *out = y + unit * (1 + most) * 6;
	IN float *corners = boxes + unit * slots * 4;
	for (int e = THREAD(); e < 6 * (1 + most); e += SIZE)
		out[e] = 0.0f;
	int mine = 0, before, found = 0, turn = 0;
	for (int i = THREAD(); i < slots; i += SIZE)
		mine += bad[unit * slots + i];
	bool finite = total_of(sums, &turn, mine, &before) == 0;
	int last = -1; // the box of the last turn
	for (turn = 0; finite && turn < most; turn++) {
		int at = -1, side = turn % 2 * SIZE;
		for (int g = 0; g < groups; g++) {
			OUT int *list = lists + (unit * groups + g) * room;
			for (int k = THREAD(); k < counts[unit * groups + g]; k += SIZE) {
				int c = list[k];
				if (c < 0)
					continue;
				if (last >= 0 && (c == last || (c % classes == last % classes &&
					covered(corners + last / classes * 4, corners + c / classes * 4, limits[2 * unit + 1])))) {
					list[k] = -1;
					continue;
				}
				if (at < 0 || s[c] > s[at] || (s[c] == s[at] && c < at))
					at = c;
			}
		}
		best[side + THREAD()] = at;
		best_scores[side + THREAD()] = at < 0 ? 0.0f : s[at];
		BARRIER();
		last = -1;
		float top = 0.0f;
		for (int t = 0; t < SIZE; t++) {
			int c = best[side + t];
			float score = best_scores[side + t];
			if (c >= 0 && (last < 0 || score > top || (score == top && c < last))) {
				last = c;
				top = score;
			}
		}
		if (last < 0)
			break;
		found++;
		int row = 6 * found;
		for (int e = row; e < row + 6; e++) // by the thread that has cleared the element
			if (e % SIZE == THREAD())
				out[e] = e < row + 4 ? corners[last / classes * 4 + e - row] : e == row + 4 ? top : (float)(last % classes);
	}
	if (THREAD() == 0)
		out[0] = finite ? (float)found : NO_SCORE;
}
