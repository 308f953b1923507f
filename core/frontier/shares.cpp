#include "frontier/shares.hpp"

namespace everytree {

void Shares::begin(const Prior& prior) {
  prior_ = &prior;
  n_tests_ = n_attributes_ = 0;
  if (!prior.fair) return;
  for (std::int32_t a : touched_) per_attribute_[static_cast<std::size_t>(a)] = 0;
  touched_.clear();
}

void Shares::add(std::uint32_t test) {
  n_tests_ += 1;
  if (!prior_->fair) return;
  const std::int32_t a = prior_->attribute[test];
  if (per_attribute_.size() <= static_cast<std::size_t>(a)) per_attribute_.resize(static_cast<std::size_t>(a) + 1, 0);
  if (per_attribute_[static_cast<std::size_t>(a)]++ == 0) {
    touched_.push_back(a);
    n_attributes_ += 1;
  }
}

double Shares::share(std::uint32_t test) const {
  if (prior_->fair)
    return prior_->fair_sum(n_tests_) /
           (n_attributes_ * per_attribute_[static_cast<std::size_t>(prior_->attribute[test])]);
  return 1.0 / prior_->share_divisor(n_tests_);
}

}  // namespace everytree
