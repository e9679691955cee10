#include "models/moe_load.h"

#include "models/distribution.h"
#include "models/mesh.h"

static uint64_t count_ranks(const ovl_mesh *mesh)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < mesh->n_axes; i++) {
        n *= (uint64_t)mesh->axes[i].size;
    }
    return n;
}

/* Loads of the P ranks, not yet of mean 1; NULL: even. */
static double *loads(const ovl_moe *m, uint64_t p, ovl_arena *arena)
{
    double *w = OVL_NEW_ARRAY(arena, double, p);
    ovl_distribution law = ovl_distribution_of_mean(OVL_DRAW_LOGNORMAL, 1, m->spread);
    for (uint64_t i = 0; i < p; i++) {
        w[i] = m->shares.count ? m->shares.item[i]
               : m->has_spread ? ovl_draw(&law, ovl_hash_share(ovl_hash_pair((uint64_t)m->seed, i)))
               : i == 0        ? m->hottest
                               : ((double)p - m->hottest) / (double)(p - 1);
    }
    return w;
}

static bool scale(double *w, uint64_t p)
{
    double sum = 0;
    for (uint64_t i = 0; i < p; i++) {
        sum += w[i];
    }
    for (uint64_t i = 0; i < p && sum > 0; i++) {
        w[i] *= (double)p / sum;
    }
    return sum > 0;
}

/* Rows scaled to 1, and their transpose; false and an error if a row is all 0. */
static bool read_matrix(const ovl_moe *m, uint32_t p, ovl_moe_load *load, ovl_arena *arena,
                        ovl_errs *errs)
{
    double *pairs = OVL_NEW_ARRAY(arena, double, (size_t)p *p);
    double *back = OVL_NEW_ARRAY(arena, double, (size_t)p *p);
    for (uint32_t i = 0; i < p; i++) {
        const double *row = &m->shares.item[(size_t)i * p];
        double sum = 0;
        for (uint32_t j = 0; j < p; j++) {
            sum += row[j];
        }
        if (!(sum > 0)) {
            ovl_error(errs, OVL_E_INPUT, m->mark, "shares: row %" PRIu32 " is all 0", i);
            return false;
        }
        for (uint32_t j = 0; j < p; j++) {
            pairs[(size_t)i * p + j] = back[(size_t)j * p + i] = row[j] / sum;
        }
    }
    load->pairs = pairs;
    load->back = back;
    return true;
}

static void sum_columns(const double *pairs, uint64_t p, double *w)
{
    for (uint64_t i = 0; i < p * p; i++) {
        w[i % p] += pairs[i];
    }
}

static bool fits(const ovl_moe *m, uint64_t p, ovl_errs *errs)
{
    if (m->shares.rows && m->shares.rows != p) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "shares: expected a row for each of the %" PRIu64
                  " ranks of expert parallelism; found %" PRIu32,
                  p, m->shares.rows);
        return false;
    }
    if (m->shares.count && !m->shares.rows && m->shares.count != p) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "shares: expected one for each of the %" PRIu64
                  " ranks of expert parallelism; found %" PRIu32,
                  p, m->shares.count);
        return false;
    }
    if (m->hottest > (double)p) {
        ovl_error(errs, OVL_E_INPUT, m->mark,
                  "hottest: one of %" PRIu64 " ranks has no more than %" PRIu64 " times the mean",
                  p, p);
        return false;
    }
    return true;
}

ovl_moe_load ovl_moe_load_of(const ovl_scenario *scenario, ovl_arena *arena, ovl_errs *errs)
{
    const ovl_moe *m = &scenario->workload.model.moe;
    ovl_moe_load load = {.most = 1};
    const ovl_mesh *mesh = &scenario->mesh;
    uint64_t ep = ovl_mesh_size(mesh, m->ep), across = ovl_mesh_size(mesh, m->across);
    uint64_t p = ep * across, n = count_ranks(mesh);
    bool uneven = m->hottest > 1 || m->shares.count || (m->has_spread && m->spread > 0);
    if (p < 2 || !uneven || !fits(m, p, errs)) {
        return load;
    }
    if (m->shares.rows && !read_matrix(m, (uint32_t)p, &load, arena, errs)) {
        return load;
    }
    double *w = load.pairs ? OVL_NEW_ARRAY(arena, double, p) : loads(m, p, arena);
    if (load.pairs) {
        sum_columns(load.pairs, p, w);
    }
    double *rank = OVL_NEW_ARRAY(arena, double, n), *place = OVL_NEW_ARRAY(arena, double, n);
    double *mean = OVL_NEW_ARRAY(arena, double, across);
    if (!scale(w, p)) {
        ovl_error(errs, OVL_E_INPUT, m->mark, "shares: they are all 0");
        return load;
    }
    for (uint64_t i = 0; i < p; i++) {
        mean[i / ep] += w[i] / (double)ep;
        load.most = OVL_MAX(load.most, w[i]);
    }
    for (uint64_t r = 0; r < n; r++) {
        uint64_t a = ovl_mesh_place(mesh, m->across, r);
        rank[r] = w[a * ep + ovl_mesh_place(mesh, m->ep, r)];
        place[r] = mean[a];
    }
    load.rank = rank;
    load.place = place;
    load.n_ranks = (uint32_t)n;
    return load;
}

ovl_sizes ovl_moe_bytes(const ovl_moe_load *load, const double *factor, uint64_t bytes,
                        ovl_arena *arena)
{
    ovl_sizes sizes = {.most = bytes};
    if (!factor || bytes == 0) {
        return sizes;
    }
    uint64_t *of = OVL_NEW_ARRAY(arena, uint64_t, load->n_ranks);
    sizes.most = 0;
    for (uint32_t r = 0; r < load->n_ranks; r++) {
        of[r] = (uint64_t)((double)bytes * factor[r]);
        sizes.most = OVL_MAX(sizes.most, of[r]);
    }
    sizes.of = of;
    sizes.count = load->n_ranks;
    return sizes;
}
